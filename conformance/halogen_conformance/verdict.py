"""From what a test did to what the run is worth: pure functions, no I/O.

A test ends in one *outcome*. The requirement's *level* turns the outcome into a *verdict*
(`judge`), the verdicts of all checks of one requirement fold into one (`fold`), and all of them
give the run's *exit code* (`exit_code`). Every rule is a table, so that the tables are the
documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Level(StrEnum):
    """How binding a requirement is."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    OURS = "OURS"


class Outcome(StrEnum):
    """What one test did, before anybody asks how much it matters."""

    HELD = "held"
    MISSED = "missed"
    NOT_OFFERED = "not offered"
    BLOCKED = "blocked"
    BROKEN = "broken"  # the suite itself failed
    DIED = "died"  # the target was lost while the test was at work


class Verdict(StrEnum):
    """What is said about a requirement."""

    PASS = "PASS"
    FAIL = "FAIL"
    WARN = "WARN"
    NA = "N/A"
    BLOCKED = "BLOCKED"
    ERROR = "ERROR"
    INFO = "INFO"


class Exit(IntEnum):
    """Exit codes of the command line; CI jobs rely on the numbers."""

    CONFORMS = 0
    DOES_NOT = 1
    USAGE = 2
    TARGET_LOST = 3
    OUR_ERROR = 4
    NOTHING_TESTED = 5


# An OURS row only reports what was seen, whatever that was. Our own bug is an ERROR at every
# level, because it says nothing about the target.
_JUDGEMENT: Mapping[Outcome, Mapping[Level, Verdict]] = {
    Outcome.HELD: {
        Level.MUST: Verdict.PASS,
        Level.SHOULD: Verdict.PASS,
        Level.OURS: Verdict.INFO,
    },
    Outcome.MISSED: {
        Level.MUST: Verdict.FAIL,
        Level.SHOULD: Verdict.WARN,
        Level.OURS: Verdict.INFO,
    },
    Outcome.NOT_OFFERED: dict.fromkeys(Level, Verdict.NA),
    Outcome.BLOCKED: {
        Level.MUST: Verdict.BLOCKED,
        Level.SHOULD: Verdict.WARN,
        Level.OURS: Verdict.INFO,
    },
    Outcome.BROKEN: dict.fromkeys(Level, Verdict.ERROR),
    Outcome.DIED: {
        Level.MUST: Verdict.FAIL,
        Level.SHOULD: Verdict.WARN,
        Level.OURS: Verdict.INFO,
    },
}

# Strongest first. Evidence against the target outranks our own error: the error still decides
# the exit code. N/A is last, so a requirement with one route untested and the others passed is
# a PASS whose untested part is listed.
SEVERITY: tuple[Verdict, ...] = (
    Verdict.FAIL,
    Verdict.BLOCKED,
    Verdict.ERROR,
    Verdict.WARN,
    Verdict.INFO,
    Verdict.PASS,
    Verdict.NA,
)

FAILING = frozenset({Verdict.FAIL, Verdict.BLOCKED})
# What a known-failure entry may stand for; PASS makes it stale instead.
_EXCUSABLE = frozenset({Verdict.FAIL, Verdict.BLOCKED, Verdict.WARN})


def judge(level: Level, outcome: Outcome) -> Verdict:
    """The verdict of one check of a requirement of this level."""
    return _JUDGEMENT[outcome][level]


def fold(verdicts: Iterable[Verdict]) -> Verdict:
    """One requirement's verdict from its checks'; nothing checked is N/A, never a PASS."""
    return min(verdicts, key=SEVERITY.index, default=Verdict.NA)


@dataclass(frozen=True, slots=True)
class Tally:
    """The requirement ids of a run, sorted by what they mean for its exit code."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    informed: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def tested(self) -> int:
        """How many requirements the target was really tried on; INFO rows do not count."""
        groups = (self.passed, self.failed, self.blocked, self.warned, self.known)
        return sum(len(ids) for ids in groups)


_FIELD: Mapping[Verdict, str] = {
    Verdict.PASS: "passed",
    Verdict.FAIL: "failed",
    Verdict.BLOCKED: "blocked",
    Verdict.WARN: "warned",
    Verdict.NA: "not_applicable",
    Verdict.ERROR: "errors",
    Verdict.INFO: "informed",
}


def is_known(verdict: Verdict, listed: bool) -> bool:
    """Whether a baseline entry covers this verdict."""
    return listed and verdict in _EXCUSABLE


def is_stale(verdict: Verdict, listed: bool) -> bool:
    """Whether a baseline entry is out of date. What could not be tried proves nothing."""
    return listed and verdict is Verdict.PASS


def tally(verdicts: Mapping[str, Verdict], baseline: Iterable[str] = ()) -> Tally:
    """Sort requirement ids by verdict; `baseline` holds the ids of the known failures.

    A known failure is only in `known`. A stale entry is in `stale` and stays in `passed`.
    """
    listed = frozenset(baseline)
    rows: dict[str, list[str]] = {name: [] for name in (*_FIELD.values(), "known", "stale")}
    for rid, verdict in verdicts.items():
        if is_known(verdict, rid in listed):
            rows["known"].append(rid)
            continue
        rows[_FIELD[verdict]].append(rid)
        if is_stale(verdict, rid in listed):
            rows["stale"].append(rid)
    return Tally(**{name: tuple(ids) for name, ids in rows.items()})


def exit_code(score: Tally, *, lost: bool = False, suite_errors: int = 0) -> Exit:
    """The run's exit code. `lost`: the target was unreachable or died; `suite_errors`: our own.

    The order is the order of trust: after a lost target everything else is a consequence, after
    an error of ours no other number can be relied on, and "nothing failed" is only good news if
    something was tested.
    """
    if lost:
        return Exit.TARGET_LOST
    if suite_errors or score.errors:
        return Exit.OUR_ERROR
    if not score.tested:
        return Exit.NOTHING_TESTED
    if score.failed or score.blocked or score.stale:
        return Exit.DOES_NOT
    return Exit.CONFORMS
