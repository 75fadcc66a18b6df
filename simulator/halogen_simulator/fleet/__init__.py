"""A fleet of agents on servers that hold sessions, as a discrete-event simulation."""
