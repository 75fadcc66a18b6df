"""Waiting for a condition, never for time to pass."""

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

PATIENCE = 60.0
"""Seconds until a wait is given up. Only a broken server takes that long."""


def eventually(look: Callable[[], _T | None], what: str, within: float = PATIENCE) -> _T:
    """Look again and again until something truthy is seen, and return it.

    Raises AssertionError that says ``what`` was waited for after ``within`` seconds.
    """
    deadline = time.monotonic() + within
    while not (seen := look()):
        assert time.monotonic() < deadline, f"waited {within:g} s in vain: {what}"
        time.sleep(0.02)
    return seen
