"""Load tests for servers of the sessions protocol, with the rules checked under load."""
