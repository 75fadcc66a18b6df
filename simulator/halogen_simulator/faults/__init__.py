"""Servers that are wrong on purpose, one mistake each, to see whether a test suite notices."""
