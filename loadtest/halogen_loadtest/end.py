"""The end of a run: its figures, its verdict, its reports, and what is printed of them."""

import os
import sys
import time
from pathlib import Path

from halogen_loadtest.console import Terminal, show
from halogen_loadtest.ledger import Generator
from halogen_loadtest.report.written import write
from halogen_loadtest.result import Result
from halogen_loadtest.run import Run
from halogen_loadtest.summary import figures, held, most_open, workers
from halogen_loadtest.target import CELLS, CELLS_USED, NoSessions, TargetLost
from halogen_loadtest.verdict import VERDICT, Exit, verdict

_TOO_BUSY = 90.0
"""Per cent of a core: beyond, a process of the load test itself makes others wait."""
_FULL = 0.9


def conclude(run: Run) -> Exit:
    """Judge the run, print what came of it and write the reports if a folder was named."""
    code = _told(run)
    if VERDICT in os.environ:
        Path(os.environ[VERDICT]).write_text(str(int(code)), "utf-8")
    return code


def _told(run: Run) -> Exit:
    run.concluded = True
    result = result_of(run)
    show(Terminal(), result)
    if run.settings.report:
        try:
            write(result, Path(run.settings.report))
        except OSError as error:
            print(f"halogen-loadtest: the report cannot be written: {error}", file=sys.stderr)
            return max(result.verdict.code, Exit.OUR_ERROR)
        print(f"Report: {Path(run.settings.report) / 'report.html'}")
    return result.verdict.code


def result_of(run: Run) -> Result:
    """The run as its reports tell it."""
    ledger, settings = run.ledger, run.settings
    with_sessions = figures(ledger.records, sessions=True)
    invariants = held(ledger)
    said = verdict(
        settings,
        with_sessions,
        invariants,
        lost=_lost(run),
        not_offered=str(run.failure) if isinstance(run.failure, NoSessions) else "",
        errors=_errors(run),
    )
    sessions = [True, False]
    return Result(
        target=run.target.url,
        settings=settings,
        users=run.users,
        began=run.began or time.time(),
        ended=time.time(),
        phases=list(zip(run.phase_starts, sessions, strict=False)),
        verdict=said,
        with_sessions=with_sessions,
        without=figures(ledger.records, sessions=False) if settings.compare else None,
        invariants=invariants,
        violations=ledger.violations,
        workers=workers(ledger.generators),
        generators=_together(ledger.generators),
        most_open=max(ledger.most_open, most_open(ledger.generators)),
        gauges=run.gauges,
        records=ledger.records,
        counts=dict(ledger.counts),
        notes=_notes(run),
    )


def _lost(run: Run) -> str:
    """Why the server counts as lost, or nothing: it never was there, or it is gone now."""
    if isinstance(run.failure, TargetLost):
        return str(run.failure)
    if run.failure is None and run.began:
        try:
            run.target.get("/")
        except TargetLost as error:
            return f"the server died during the run: {error}"
    return ""


def _errors(run: Run) -> list[str]:
    runner = run.environment.runner
    found = [str(one["msg"]) for one in runner.exceptions.values()] if runner is not None else []
    counts = run.ledger.counts
    missing = counts["begun"] - counts["judged"] - counts["cut"]
    if missing:
        found.append(f"{missing:,} exchanges were begun and never accounted for")
    return found


def _together(generators: list[Generator]) -> list[tuple[float, float, int]]:
    """The samples of all processes added up, one row for each sample."""
    latest: dict[str, Generator] = {}
    rows = []
    for one in sorted(generators, key=lambda sample: sample.at):
        latest[one.worker] = one
        used = sum(sample.cpu for sample in latest.values())
        rows.append((one.at, used, sum(sample.open for sample in latest.values())))
    return rows


def _notes(run: Run) -> list[str]:
    notes = []
    busy = [one for one in workers(run.ledger.generators) if one.mean > _TOO_BUSY]
    if busy:
        names = ", ".join(f"{one.name} {one.mean:.0f} %" for one in busy)
        notes.append(
            f"The load test itself was short of processor time ({names} of a core): "
            "its times are too long. Use more --processes or machines."
        )
    shares = [
        one.gauges[CELLS_USED] / one.gauges[CELLS]
        for one in run.gauges
        if one.gauges.get(CELLS) and CELLS_USED in one.gauges
    ]
    if max(shares, default=0.0) > _FULL:
        notes.append(
            "The server's KV memory was nearly full. A server may release names then: give it "
            "more (HALOGEN_KV_POOL_POSITIONS), or allow for it with --may-release."
        )
    counts = run.ledger.counts
    if counts["dropped"]:
        notes.append(f"{counts['dropped']:,} arrivals were dropped: --most-open were under way.")
    if counts["storms too fast"]:
        notes.append(
            f"In {counts['storms too fast']:,} storms replies were too fast to be left in the "
            "middle: whether what was left is kept was not judged there."
        )
    if counts["cut"]:
        notes.append(f"{counts['cut']:,} exchanges were cut by the end of the test.")
    return notes
