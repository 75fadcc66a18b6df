"""The forms of a report. Each renderer takes a `Run` and returns text."""
