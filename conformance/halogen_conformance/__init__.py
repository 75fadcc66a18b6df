"""Checks any server of the sessions protocol, row by row, from the outside."""
