"""What a run prints when it is over."""

import os

from rich.console import Console
from rich.table import Table
from rich.text import Text

from halogen_loadtest.report.markup import visible
from halogen_loadtest.report.wording import rows_of
from halogen_loadtest.result import Result
from halogen_loadtest.verdict import Exit


class Terminal(Console):
    """A console whose reader may leave (`run ... | head`): the run goes on, and so do its reports.

    Rich would end the process with exit code 1, which here means that a rule was broken.
    """

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


_COLOURS = {"held": "green", "BROKEN": "bold red", "MISSED": "yellow", "not tried": "dim"}
_LINES = {
    Exit.CONFORMS: ("green", "Every rule held."),
    Exit.DOES_NOT: ("bold red", "It does not hold up:"),
    Exit.TARGET_LOST: ("bold red", "The server was lost:"),
    Exit.OUR_ERROR: ("bold red", "The load test itself went wrong, this is not about the server:"),
    Exit.NOTHING_TESTED: ("yellow", "Nothing was tested:"),
}
_SHOWN = 3


def show(out: Console, result: Result) -> None:
    """Figures, rules, the first things that went wrong, the verdict."""
    if result.with_sessions is not None:
        out.print(_figures(result))
        out.print(_rules(result))
    for one in result.violations[:_SHOWN]:
        out.print(Text(f"{one.invariant} ({one.step})", style="bold red"))
        out.print(Text(f"  expected: {visible(one.expected)}"))
        out.print(Text(f"  actual:   {visible(one.actual)}"))
        if not result.settings.report and one.script:
            out.print(Text(one.script, style="dim"))
    if len(result.violations) > _SHOWN:
        out.print(Text(f"... and {len(result.violations) - _SHOWN} more of these", style="dim"))
    for note in result.notes:
        out.print(Text(f"Note: {note}", style="yellow"))
    colour, line = _LINES[result.verdict.code]
    out.print(Text(line, style=colour))
    for reason in result.verdict.reasons:
        out.print(Text(f"  {visible(reason)}"))


def _figures(result: Result) -> Table:
    halves = [("with sessions", result.with_sessions)]
    if result.settings.compare:
        halves.append(("without", result.without))
    users = "1 user" if result.users == 1 else f"{result.users:,} users"
    title = f"{result.settings.scenario} on {result.target}, {users}"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name, _ in halves:
        table.add_column(name)
    for name, show_one in rows_of(halves):
        table.add_row(name, *(show_one(half) if half is not None else "-" for _, half in halves))
    table.add_row("exchanges at once, at most", f"{result.most_open:,}")
    used = ", ".join(f"{one.mean:.0f} % (most {one.most:.0f} %)" for one in result.workers)
    table.add_row("load test's processor time, by process", used or "-")
    return table


def _rules(result: Result) -> Table:
    table = Table(title="Rules", title_justify="left")
    table.add_column("")
    table.add_column("rule")
    table.add_column("requirements")
    table.add_column("checked", justify="right")
    table.add_column("broken", justify="right")
    for one in result.invariants:
        word = Text(one.word, style=_COLOURS[one.word])
        rows = ", ".join(one.invariant.rows)
        table.add_row(word, one.invariant.id, rows, f"{one.checked:,}", f"{one.broken:,}")
    return table
