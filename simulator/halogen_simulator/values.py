"""Values of the command line, exit codes, and what is said of what cannot be used."""

import argparse
import os
import signal
import sys
from collections.abc import Callable

USAGE, TARGET_LOST = 2, 3
EXIT_CODES = """\
exit codes:
  0  everything came out as it should
  1  something did not, or was not answered
  2  usage error
  3  the server cannot be reached, or wants another key
"""
"""The numbers are those of the conformance suite and the load test."""
KEY_HELP = "the server's API key; HALOGEN_API_KEY is better: all users of a machine see options"
_A_DAY_S = 86_400


def wrong(message: str, code: int = USAGE) -> int:
    """Say on standard error what is wrong. Returns the exit code for it."""
    print(f"halogen-simulator: {message}", file=sys.stderr)
    return code


def while_read(run: Callable[[], int]) -> int:
    """Run a command for as long as somebody reads what it prints (`faults | head`). Returns its
    exit code, or that of a program which a closed pipe has ended."""
    try:
        code = run()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def wants_a_key(given: bool) -> str:
    """What is said of a 401. ``given``: a key was sent, and it is not the server's."""
    if given:
        return "the server does not take this key (401): check --key and HALOGEN_API_KEY"
    return "the server wants a key (401): give it by --key or HALOGEN_API_KEY"


def whole(text: str) -> int:
    """A whole number from 0. Raises argparse.ArgumentTypeError."""
    return _from(0, text)


def at_least_one(text: str) -> int:
    """A whole number from 1. Raises argparse.ArgumentTypeError."""
    return _from(1, text)


def seconds(text: str) -> float:
    """From 0 to a day. Raises argparse.ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= _A_DAY_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 to {_A_DAY_S}")
    return value


def some_seconds(text: str) -> float:
    """More than none, to a day. Raises argparse.ArgumentTypeError."""
    value = seconds(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _from(least: int, text: str) -> int:
    # int() would also take `1_000`, and digits of other scripts.
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}")
    return int(text)
