"""How verdicts are put into words, the same in every form of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from halogen_conformance.events import Check
from halogen_conformance.run import Result, Run
from halogen_conformance.verdict import SEVERITY, Outcome, Verdict

MEANING: dict[Verdict, str] = {
    Verdict.PASS: "holds",
    Verdict.FAIL: "a MUST does not hold",
    Verdict.BLOCKED: "could not be tried because something it builds on failed; counts as FAIL",
    Verdict.ERROR: "the suite itself went wrong; says nothing about the target",
    Verdict.WARN: "a SHOULD does not hold",
    Verdict.INFO: "only reported: servers may differ here",
    Verdict.NA: "not declared or not offered; never counted as passed",
}


def place(check: Check) -> str:
    """Route and way of answering, as in `chat, streaming`; empty for the server as a whole."""
    way = {True: "streaming", False: "not streaming", None: ""}[check.streaming]
    return ", ".join(part for part in (check.route, way) if part)


def told(check: Check) -> list[tuple[str, str]]:
    """What there is to tell about a check: label and text."""
    lines = [("expected", check.expected), ("actual", check.actual), ("reason", check.reason)]
    return [(label, text) for label, text in lines if text]


def observed(result: Result) -> str:
    """What an OURS row showed: whether the target does as written, and what it did instead. What
    it does not offer is listed elsewhere and no difference."""
    parts = []
    for how, outcomes in _DIFFERENT.items():
        seen = [check for check in result.checks if check.outcome in outcomes]
        texts = dict.fromkeys(check.actual or check.reason for check in seen)
        if seen:
            parts.append(f"{how}: " + "; ".join(text for text in texts if text))
    return "; ".join(parts) or "as written"


_DIFFERENT = {
    "differs": (Outcome.MISSED, Outcome.DIED, Outcome.BROKEN),
    "could not be seen": (Outcome.BLOCKED,),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Checks of one requirement that went wrong in the same way."""

    verdict: Verdict
    checks: tuple[Check, ...]

    @property
    def places(self) -> str:
        """Where it was seen."""
        return "; ".join(dict.fromkeys(place(check) or "server" for check in self.checks))


def findings(checks: Iterable[Check]) -> list[Finding]:
    """The checks grouped by what they tell, the worst first: six routes, one story."""
    groups: dict[tuple[str, str, str, str], list[Check]] = {}
    for check in checks:
        key = (check.verdict.value, check.expected, check.actual, check.reason)
        groups.setdefault(key, []).append(check)
    found = [Finding(group[0].verdict, tuple(group)) for group in groups.values()]
    return sorted(found, key=lambda finding: SEVERITY.index(finding.verdict))


def untried(run: Run) -> list[tuple[str, list[str]]]:
    """Every requirement about which nothing is known, by reason."""
    reasons: dict[str, list[str]] = {}
    for result in run.results:
        if result.why_not:
            reasons.setdefault(result.why_not, []).append(result.row.id)
    return list(reasons.items())


def partly(run: Run) -> list[tuple[str, str, str]]:
    """Parts left out of requirements that were tried otherwise: id, where, reason."""
    rows: dict[tuple[str, str, str], None] = {}
    for result in run.results:
        if result.verdict is not Verdict.NA:
            for check in result.of(Verdict.NA):
                rows[(result.row.id, place(check) or "server", check.reason)] = None
    return list(rows)


def when(seconds: float) -> str:
    """A time in UTC for people; empty for an unknown one."""
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def counts_line(run: Run, order: Sequence[str] | None = None) -> str:
    """`41 PASS, 2 FAIL, ...` with the zero ones left out."""
    counts = run.counts
    names = order or list(counts)
    return ", ".join(f"{counts[name]} {name}" for name in names if counts[name]) or "nothing"
