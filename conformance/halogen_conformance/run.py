"""A run as a reader sees it, put together from its events: requirements, tests, verdict.

All renderers start from `collect`; none of them looks at raw events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from halogen_conformance.events import (
    Check,
    Event,
    ExchangeSeen,
    KnownListed,
    Note,
    RequirementListed,
    RunFinished,
    RunStarted,
    SuiteError,
    TargetChanged,
    TargetLost,
    TestFinished,
    TestsCollected,
    TestStarted,
)
from halogen_conformance.verdict import (
    SEVERITY,
    Exit,
    Level,
    Tally,
    Verdict,
    exit_code,
    fold,
    is_known,
    is_stale,
    tally,
)


@dataclass(slots=True)
class TestRecord:
    """What happened in one test."""

    __test__ = False  # not a test class, whatever its name looks like to pytest
    test: str
    at: float = 0.0
    seconds: float = 0.0
    verdict: Verdict = Verdict.NA
    finished: bool = False
    requirements: tuple[str, ...] = ()
    steps: list[ExchangeSeen | TargetChanged] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exchanges(self) -> list[ExchangeSeen]:
        """The exchanges among the steps."""
        return [step for step in self.steps if isinstance(step, ExchangeSeen)]


@dataclass(frozen=True, slots=True)
class Result:
    """One requirement with all that was checked about it."""

    row: RequirementListed
    verdict: Verdict
    checks: tuple[Check, ...]
    known_reason: str = ""
    wanted: bool = True

    @property
    def known(self) -> bool:
        """A baseline entry covers this verdict."""
        return is_known(self.verdict, bool(self.known_reason))

    @property
    def stale(self) -> bool:
        """A baseline entry says this fails, and it passes."""
        return is_stale(self.verdict, bool(self.known_reason))

    def of(self, *verdicts: Verdict) -> tuple[Check, ...]:
        """The checks with one of these verdicts."""
        return tuple(check for check in self.checks if check.verdict in verdicts)

    @property
    def why_not(self) -> str:
        """Why nothing is known about it; empty if something is."""
        if self.verdict is not Verdict.NA:
            return ""
        if not self.wanted:
            return "left out by --only"
        if self.row.excluded:
            return f"no test: {self.row.excluded}"
        reasons = dict.fromkeys(check.reason for check in self.checks if check.reason)
        return "; ".join(reasons) or "no test ran for it"


@dataclass(frozen=True, slots=True)
class Run:
    """The whole run."""

    started: RunStarted
    finished: RunFinished | None
    results: tuple[Result, ...]
    tests: tuple[TestRecord, ...]
    score: Tally
    notes: tuple[Note, ...]
    suite_errors: tuple[SuiteError, ...]
    lost: TargetLost | None

    @property
    def complete(self) -> bool:
        """Whether the stream reaches the end of the run."""
        return self.finished is not None

    @property
    def code(self) -> Exit:
        """The exit code, worked out again from the events."""
        errors = len(self.suite_errors) + (0 if self.complete else 1)
        return exit_code(self.score, lost=self.lost is not None, suite_errors=errors)

    @property
    def counts(self) -> dict[str, int]:
        """How many requirements got each verdict; known failures count as `KNOWN` only."""
        out = {verdict.value: 0 for verdict in SEVERITY}
        out["KNOWN"] = 0
        for result in self.results:
            out["KNOWN" if result.known else result.verdict.value] += 1
        return out

    def record(self, test: str) -> TestRecord | None:
        """The record of one test."""
        return next((record for record in self.tests if record.test == test), None)


INTERRUPTED = "interrupted"  # where a SuiteError happened that was somebody's Ctrl-C
MISSING_START = RunStarted(target="unknown (the stream has no start)", at=0.0)


def collect(events: Iterable[Event]) -> Run:
    """Put a run together. The events may end anywhere; order matters only inside a test."""
    started, finished, lost = MISSING_START, None, None
    rows: dict[str, RequirementListed] = {}
    known: dict[str, str] = {}
    checks: dict[str, list[Check]] = {}
    tests: dict[str, TestRecord] = {}
    notes: list[Note] = []
    errors: list[SuiteError] = []
    for event in events:
        match event:
            case RunStarted():
                started = event
            case RunFinished():
                finished = event
            case RequirementListed():
                rows[event.id] = event
            case KnownListed():
                known[event.id] = event.reason
            case TestsCollected():
                pass  # for those who watch: how far the run is
            case TargetLost():
                lost = lost or event
            case SuiteError():
                errors.append(event)
            case Check():
                checks.setdefault(event.requirement, []).append(event)
            case Note() if not event.test:
                notes.append(event)
            case _:
                record = tests.setdefault(event.test, TestRecord(event.test))
                _add(record, event)
    for rid in checks.keys() - rows.keys():
        errors.append(SuiteError("requirements", f"a test names the unknown requirement {rid}"))
    results = tuple(
        _result(row, checks.get(rid, ()), known.get(rid, ""), started) for rid, row in rows.items()
    )
    return Run(
        started=started,
        finished=finished,
        results=results,
        tests=tuple(tests.values()),
        score=tally({result.row.id: result.verdict for result in results}, known),
        notes=tuple(notes),
        suite_errors=tuple(errors),
        lost=lost,
    )


def _add(
    record: TestRecord, event: TestStarted | TestFinished | ExchangeSeen | TargetChanged | Note
) -> None:
    match event:
        case TestStarted():
            record.at, record.requirements = event.at, event.requirements
        case TestFinished():
            record.seconds, record.verdict, record.finished = event.seconds, event.verdict, True
        case ExchangeSeen() | TargetChanged():
            record.steps.append(event)
        case Note():
            record.notes.append(event.text)


def _result(
    row: RequirementListed, checks: Sequence[Check], known_reason: str, started: RunStarted
) -> Result:
    # Tests may run in any order and on several workers; the report must not show it.
    ordered = tuple(
        sorted(checks, key=lambda one: (one.route, bool(one.streaming), one.test, one.actual))
    )
    only = {word.upper() for word in started.only}
    wanted = not only or bool(only & {row.id, row.group})
    return Result(row, fold(check.verdict for check in checks), ordered, known_reason, wanted)


def sentence(run: Run) -> str:
    """The verdict of the run in one sentence for a person."""
    score = run.score
    must = {result.row.id for result in run.results if result.row.level is Level.MUST}
    failing = [rid for rid in (*score.failed, *score.blocked) if rid in must]
    tried = [rid for rid in (*score.passed, *score.known, *failing) if rid in must]
    match run.code:
        case Exit.TARGET_LOST:
            return f"No verdict: the target was lost. {run.lost.text if run.lost else ''}".strip()
        case Exit.OUR_ERROR if not run.complete:
            return "No verdict: the run was cut off before its end."
        case Exit.OUR_ERROR if any(one.where == INTERRUPTED for one in run.suite_errors):
            return "No verdict: the run was interrupted before its end."
        case Exit.OUR_ERROR:
            count = len(run.suite_errors) + sum(
                len(result.of(Verdict.ERROR)) for result in run.results
            )
            found = f" Found so far: {', '.join(failing)} failing." if failing else ""
            return f"No verdict: {count} error(s) in the suite itself; please report them.{found}"
        case Exit.NOTHING_TESTED:
            return "No verdict: nothing was tested."
        case Exit.DOES_NOT if failing:
            return (
                f"Does not conform: {len(failing)} of {len(tried)} tested MUST requirements fail: "
                f"{', '.join(failing)}.{_also(run)}"
            )
        case Exit.DOES_NOT:
            return (
                "Not accepted: the baseline is out of date. "
                f"{', '.join(score.stale)} passes; remove the entry."
            )
        case _:
            untried = len(must) - len(tried)
            partly = f" ({untried} more not tried)" if untried else ""
            held = len(tried) - len([rid for rid in score.known if rid in must])
            return (
                f"Conforms: {held} of {len(tried)} tested MUST requirements hold{partly}."
                f"{_also(run)}"
            )


def _also(run: Run) -> str:
    score = run.score
    parts = []
    if score.known:
        parts.append(f"{len(score.known)} known failure(s): {', '.join(score.known)}")
    if score.stale:
        parts.append(f"out of date in the baseline: {', '.join(score.stale)}")
    if score.warned:
        parts.append(f"{len(score.warned)} warning(s): {', '.join(score.warned)}")
    return f" Also {'; '.join(parts)}." if parts else ""
