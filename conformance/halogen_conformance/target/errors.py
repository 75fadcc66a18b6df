"""What can be wrong with a target, each with one clear line for the person at the console."""

from enum import Enum


class Trouble(Enum):
    """Kinds of trouble. Only BAD_USAGE is the caller's; the others are exit code 3."""

    BAD_USAGE = "bad usage"
    """The command cannot be run at all, or the URL is none."""
    UNREACHABLE = "unreachable"
    CRASHED = "crashed at start"
    PORT_NEVER_OPENED = "port never opened"
    HANGS = "hangs"
    """The port is open, and no HTTP answer comes."""
    GARBAGE = "does not speak HTTP"
    NOT_READY = "never ready"
    """It answers 503 until the deadline."""
    DIED = "died"
    """It was ready once and its process has ended since."""


class TargetError(Exception):
    """The target cannot be tested. ``str()`` is one line: what happened, what to do.

    ``log`` is the end of the server's own log, to be shown below the line (may be empty).
    """

    def __init__(self, trouble: Trouble, line: str, log: str = "") -> None:
        super().__init__(line)
        self.trouble = trouble
        self.log = log
