"""The engine: tokens in, text and a kept state out. It knows nothing of HTTP or names."""
