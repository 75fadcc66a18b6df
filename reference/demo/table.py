"""What a person reads at the end: every request, with sessions and without, and the verdict."""

from collections.abc import Sequence
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.play import Played
from demo.story import USED, Names
from demo.verdict import Row

WIDTH = 100
"""Columns that are enough for the table."""

_COLOURS = {"used": "green", "unmatched": "yellow", "unknown": "yellow"}


def show(out: Console, played: Played) -> None:
    """Print the table and what it adds up to."""
    rows = played.rows
    out.print(_table(rows, played.names))
    out.print(f"Every name above ends in -{played.names.mark}: each run makes its own.")
    with_sessions = sum(row.answer.evaluated for row in rows)
    without = sum(row.twin.evaluated for row in rows)
    out.print(
        f"Prompt tokens evaluated: {with_sessions:,} with sessions, {without:,} without "
        f"({without / max(with_sessions, 1):.1f} times as many)."
    )
    used = [row for row in rows if row.answer.outcome == USED]
    if used:
        own = _time(median(row.answer.first_token for row in used))
        other = _time(median(row.twin.first_token for row in used))
        out.print(
            f"First token of the {len(used)} requests that used a kept state: {own} with, {other} "
            "without (medians)."
        )


def verdict(out: Console, checked: int, wrong: Sequence[str]) -> None:
    """The last line: whether every outcome and cost is what the protocol says."""
    if not wrong:
        out.print(
            f"[bold green]PASS[/]  all {checked} outcomes, costs and replies are what the protocol "
            "says."
        )
        return
    out.print("[bold red]FAIL[/]  not what the protocol says:")
    for line in wrong:
        out.print(f"  {line}", markup=False)


def _table(rows: Sequence[Row], names: Names) -> Table:
    table = Table(
        title="One set of names, three routes; beside it the same requests without the names",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        collapse_padding=True,
        pad_edge=False,
    )
    for title in ("request", "route", "from", "keep", "outcome"):
        table.add_column(title, no_wrap=True)
    for title in ("prompt\ntokens", "evaluated", "first\ntoken"):
        table.add_column(title, justify="right", no_wrap=True)
    for title in ("without:\nevaluated", "without:\nfirst\ntoken"):
        table.add_column(title, justify="right", no_wrap=True, style="dim")
    for row in rows:
        ask = row.part.ask
        table.add_row(
            row.part.label,
            row.part.route,
            *("-" if name is None else names.word(name) for name in (ask.start, ask.keep)),
            _outcome(row),
            f"{row.answer.prompt:,}",
            f"{row.answer.evaluated:,}",
            _time(row.answer.first_token),
            f"{row.twin.evaluated:,}",
            _time(row.twin.first_token),
        )
    return table


def _outcome(row: Row) -> Text:
    said = row.answer.outcome or ("kept" if row.part.ask.keep else "-")
    if row.wrong:
        return Text(f"{said}\nWRONG", "bold red")
    return Text(said, _COLOURS.get(said, ""))


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
