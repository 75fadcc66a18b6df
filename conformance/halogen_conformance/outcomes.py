"""How a test of the suite says what it found: by returning, or by raising one of these.

| a test...                                        | outcome     |
|--------------------------------------------------|-------------|
| returns                                          | held        |
| fails an `assert`, `expect` or `expect_equal`    | missed      |
| raises `NotOffered`, or skips                    | not offered |
| raises `Blocked`, or fails an assert in set-up   | blocked     |
| raises `TargetError`                             | died        |
| raises anything else, or runs into its time limit| broken      |
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass

import pytest

from halogen_conformance.target import TargetError
from halogen_conformance.verdict import Outcome

_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 600
_brief.maxlist = _brief.maxtuple = _brief.maxdict = 40
_brief.maxlevel = 8


class Miss(AssertionError):
    """The target did something else than required. `expected` and `actual` are for the reader.

    `requirement` names the row that is missed when a test has several: the others are then
    blocked, because the test did not get far enough to say anything about them.
    """

    def __init__(self, expected: str, actual: str, requirement: str = "") -> None:
        super().__init__(f"expected {expected}, got {actual}")
        self.expected = expected
        self.actual = actual
        self.requirement = requirement


class NotOffered(Exception):
    """The target does not offer, or was not declared to offer, what the test needs: N/A."""


class Blocked(Exception):
    """What the test builds on did not come about, so it could not get to its own question."""


def expect(holds: bool, *, expected: str, actual: object, requirement: str = "") -> None:
    """Go on if `holds`; otherwise raise Miss with both sides in words."""
    if not holds:
        raise Miss(
            expected, actual if isinstance(actual, str) else _brief.repr(actual), requirement
        )


def expect_equal(what: str, actual: object, expected: object, *, requirement: str = "") -> None:
    """Go on if both are equal; otherwise raise Miss, saying what was compared."""
    if actual != expected:
        raise Miss(f"{what}: {_brief.repr(expected)}", _brief.repr(actual), requirement)


def arranged(holds: bool, reason: str) -> None:
    """Check that an arrangement took; raise Blocked with the reason if it did not."""
    if not holds:
        raise Blocked(reason)


@dataclass(frozen=True, slots=True)
class Ending:
    """How one phase of a test ended, in words."""

    outcome: Outcome
    expected: str = ""
    actual: str = ""
    reason: str = ""
    requirement: str = ""


def ending_of(error: BaseException | None, *, in_setup: bool, traceback: str = "") -> Ending:
    """What an exception (or its absence) says about the target.

    `traceback` is the text shown when it turns out to be the suite's own error.
    """
    match error:
        case None:
            return Ending(Outcome.HELD)
        case NotOffered() | pytest.skip.Exception():
            return Ending(Outcome.NOT_OFFERED, reason=str(error) or "no reason given")
        case Blocked():
            return Ending(Outcome.BLOCKED, reason=str(error) or "no reason given")
        case TargetError():
            return Ending(Outcome.DIED, reason=str(error))
        case AssertionError() if in_setup:
            return Ending(Outcome.BLOCKED, reason=f"the arrangement did not hold: {error}")
        case Miss():
            return Ending(
                Outcome.MISSED,
                expected=error.expected,
                actual=error.actual,
                requirement=error.requirement,
            )
        case AssertionError():
            return Ending(Outcome.MISSED, actual=str(error) or "an assertion failed")
        # pytest-timeout ends a test with `pytest.fail("Timeout ...")`. All waiting for the
        # target has deadlines of its own, so this limit is only ever hit by a bug of ours.
        case pytest.fail.Exception() if not str(error).startswith("Timeout"):
            return Ending(Outcome.MISSED, actual=str(error))
        case _:
            summary = f"{type(error).__name__}: {error}"
            return Ending(Outcome.BROKEN, actual=summary, reason=traceback or summary)
