"""What Claude Code sends: recorded, made up in any size, played against a server."""
