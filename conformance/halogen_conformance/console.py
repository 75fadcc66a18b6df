"""What a run looks like in a terminal and in a CI log.

On a terminal one line moves while tests run; anywhere else there is a plain line for each
problem and one every so many tests. The end is the same for both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from halogen_conformance.capability import COLUMNS, matrix
from halogen_conformance.events import (
    Check,
    Event,
    RunFinished,
    RunStarted,
    SuiteError,
    TargetLost,
    TestFinished,
    TestsCollected,
    TestStarted,
)
from halogen_conformance.report.wording import (
    counts_line,
    findings,
    observed,
    partly,
    place,
    told,
    untried,
)
from halogen_conformance.report.write import script_name
from halogen_conformance.run import Result, Run, sentence
from halogen_conformance.verdict import FAILING, Exit, Verdict
from halogen_conformance.visible import one_line, visible

STYLE: dict[Verdict, str] = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.BLOCKED: "red",
    Verdict.ERROR: "bold magenta",
    Verdict.WARN: "yellow",
    Verdict.INFO: "blue",
    Verdict.NA: "dim",
}
_LOUD = FAILING | {Verdict.ERROR, Verdict.WARN}
_SCRIPTS = 3  # scripts printed; a server that gets nothing right would fill the screen with them
_IDS = 20  # ids named in one line
_FINDINGS = 3  # ways in which one requirement is missed
_EVERY = 20  # tests between two progress lines in a log


class _Terminal(Console):
    """A console whose reader may leave (`check ... | head`): the run goes on without it.

    Rich would end the process with exit code 1, which here means "does not conform".
    """

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def terminal() -> Console:
    """A console that prints foreign text as it is: no mark-up, emoji codes or highlighting.

    It stays with the standard output of this moment, wherever that is redirected later.
    """
    return _Terminal(file=sys.stdout, markup=False, emoji=False, highlight=False)


class Live:
    """Shows a run while it goes on; call it with every event."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._done = 0
        self._total: int | None = None
        self._bad = 0
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (SpinnerColumn(), BarColumn(), MofNCompleteColumn())
            text = TextColumn("{task.description}", markup=False)
            self._bar = Progress(*columns, text, console=console, transient=True)
            self._task = self._bar.add_task("starting", total=None)

    def __call__(self, event: Event) -> None:
        """Take note of one event."""
        match event:
            case RunStarted():
                self._console.print(f"Checking {visible(event.target)}", soft_wrap=True)
                if self._bar:
                    self._bar.start()
            case TestsCollected():
                self._total = event.count
                if self._bar:
                    self._bar.update(self._task, total=event.count)
            case TestStarted() if self._bar:
                self._bar.update(self._task, description=one_line(event.test, 60))
            case Check() if event.verdict in _LOUD:
                self._bad += 1
                self._problem(event)
            case SuiteError():
                self._console.print(Text(f"ERROR    {one_line(event.where, 200)}", "bold magenta"))
            case TargetLost():
                self._console.print(
                    Text(f"LOST     {one_line(event.text, 300)}", "bold red"), soft_wrap=True
                )
            case TestFinished():
                self._advance()
            case RunFinished():
                self.close()

    def _problem(self, check: Check) -> None:
        line = Text(f"{check.verdict.value:<8} ", STYLE[check.verdict])
        where = place(check)
        line.append(f"{check.requirement}{f' ({where})' if where else ''}", "default")
        line.append(f"  {one_line(check.test, 120)}", "dim")
        self._console.print(line, soft_wrap=True)

    def _advance(self) -> None:
        self._done += 1
        if self._bar:
            self._bar.update(self._task, completed=self._done)
        elif self._done % _EVERY == 0 or self._done == self._total:
            of = f" of {self._total}" if self._total else ""
            self._console.print(f"{self._done}{of} tests, {self._bad} problem(s)")

    def close(self) -> None:
        """Take the moving line away; safe to call twice."""
        if self._bar:
            self._bar.stop()


def _capabilities(run: Run) -> Table:
    table = Table("", *(title for _, title in COLUMNS), box=None, pad_edge=False)
    for line in matrix(run):
        if all(cell.verdict is None for cell in line.cells):
            continue
        cells = []
        for cell in line.cells:
            text = Text(cell.text, STYLE[cell.verdict] if cell.verdict else "dim")
            if cell.where:
                text.append(f"\n{cell.where}", "dim")
            cells.append(text)
        table.add_row(line.group, *cells)
    return table


def _problem(console: Console, result: Result) -> None:
    """One requirement that does not hold: id, sentence, what was expected, what was seen."""
    row = result.row
    head = Text(f"{result.verdict.value} ", STYLE[result.verdict])
    head.append(f"{row.id}", "bold default").append(f" ({row.level}) {row.sentence}", "default")
    console.print()
    console.print(head, soft_wrap=True)
    found = findings(result.of(*_LOUD))
    for finding in found[:_FINDINGS]:
        console.print(f"  on {visible(finding.places)}", soft_wrap=True)
        for label, text in told(finding.checks[0]):
            shown = visible(text, 2000).replace("\n", "\n            ")
            console.print(f"  {label + ':':<9} {shown}", soft_wrap=True)
    if len(found) > _FINDINGS:
        more = len(found) - _FINDINGS
        console.print(f"  and in {more} other ways: the report (--report DIR) has them all")


def _problems(console: Console, results: Sequence[Result], folder: Path | None) -> None:
    """All requirements that do not hold, and how to repeat those that failed themselves."""
    printed = 0
    for result in results:
        _problem(console, result)
        script = next((check.repro for check in result.of(*_LOUD) if check.repro), "")
        # What is blocked is not repeated: its reason says what failed instead.
        if not script or result.verdict is Verdict.BLOCKED:
            continue
        if folder is not None:
            path = folder / script_name(result)
            console.print(f"  repeat it with: sh {path}", style="dim", soft_wrap=True)
        elif printed < _SCRIPTS:
            # Flush left and unwrapped, so that it can be copied as it stands.
            console.print("  repeat it with this script:", style="dim")
            console.print(visible(script), soft_wrap=True)
            printed += 1
        else:
            console.print("  to repeat it: --report DIR writes a script", style="dim")


def _listed(console: Console, title: str, lines: list[str]) -> None:
    if lines:
        console.print()
        console.print(Text(title, "bold"))
        for line in lines:
            console.print(f"  {one_line(line, 1000)}", soft_wrap=True)


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids) if len(ids) <= _IDS else f"{len(ids)} requirements"


def show(console: Console, run: Run, folder: Path | None = None) -> None:
    """The end of a run: problems, what was left out, the matrix, and the verdict last. With a
    ``folder`` for the report it names the scripts there instead of printing them."""
    loud = [one for one in run.results if one.verdict in _LOUD and not one.known]
    _problems(console, loud, folder)
    for error in run.suite_errors:
        console.print()
        console.print(Text(f"ERROR in the suite: {one_line(error.where)}", "bold magenta"))
        console.print(visible(error.text, 4000), soft_wrap=True)
    lost_in = run.record(run.lost.test) if run.lost else None
    for text in [note.text for note in run.notes] + (lost_in.notes if lost_in else []):
        console.print()
        console.print(visible(text, 8000), soft_wrap=True)
    results = run.results
    known = [f"{one.row.id}: {one.known_reason}" for one in results if one.known]
    info = [f"{one.row.id}: {observed(one)}" for one in results if one.verdict is Verdict.INFO]
    # Without a target nothing was tried, and a list of everything would bury the reason.
    left_out = [f"{_named(ids)}: {why}" for why, ids in untried(run) if run.lost is None]
    left_out += [f"{rid} on {where}: {reason}" for rid, where, reason in partly(run)]
    _listed(console, "Known failures", known)
    _listed(console, "Only reported, servers may differ", info)
    _listed(console, "Not tried (never counted as passed)", left_out)
    capabilities = _capabilities(run)
    if capabilities.row_count:
        console.print()
        console.print(capabilities)
    console.print()
    console.print(f"Requirements: {counts_line(run)}")
    tone = {Exit.CONFORMS: "bold green", Exit.DOES_NOT: "bold red"}.get(run.code, "bold magenta")
    console.print(Text(visible(sentence(run)), tone), soft_wrap=True)
