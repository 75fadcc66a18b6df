"""Values of the command line, and what is said of a wrong one."""

import sys


def wrong(message: str) -> int:
    """Say on standard error what is wrong. Returns the exit code for it."""
    print(f"halogen-simulator: {message}", file=sys.stderr)
    return 2


def at_least_one(text: str) -> int:
    """Raises ValueError."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def port(text: str) -> int:
    """A port, or 0 for a free one. Raises ValueError."""
    value = int(text)
    if not 0 <= value <= 65535:
        raise ValueError
    return value


def seconds(text: str) -> float:
    """From 0 to an hour. Raises ValueError."""
    value = float(text)
    if not 0 <= value < 3600:
        raise ValueError
    return value
