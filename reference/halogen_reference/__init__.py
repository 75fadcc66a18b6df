"""Reference server for the sessions protocol: keep, fork and join conversations on llama.cpp."""

__version__ = "0.1.0"
