"""The HTTP side: sockets to bytes and back. Nothing below it knows of HTTP."""
