"""What a person reads at the end: every request, with sessions and without, and the verdict."""

from collections.abc import Sequence
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.route import Ask
from demo.story import USED
from demo.verdict import Row

_COLOURS = {"used": "green", "unmatched": "yellow", "unknown": "yellow"}


def show(out: Console, route: str, rows: Sequence[Row]) -> None:
    """Print the table and what it adds up to."""
    out.print(_table(route, rows))
    with_sessions = sum(row.answer.evaluated for row in rows)
    without = sum(row.twin.evaluated for row in rows)
    out.print(
        f"Prompt tokens evaluated: {with_sessions:,} with sessions, {without:,} without "
        f"({without / max(with_sessions, 1):.1f} times as many)."
    )
    used = [row for row in rows if row.answer.outcome == USED]
    if used:
        sooner = median(row.twin.first_token / row.answer.first_token for row in used)
        out.print(
            f"First token of the {len(used)} requests that used a kept state: {sooner:.1f} times "
            "sooner (median)."
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


def _table(route: str, rows: Sequence[Row]) -> Table:
    table = Table(title=f"Sessions on {route}", title_justify="left")
    table.add_column("request", no_wrap=True)
    table.add_column("headers")
    table.add_column("outcome", no_wrap=True)
    table.add_column("prompt\ntokens", justify="right")
    for title in ("evaluated", "first\ntoken"):
        table.add_column(title, justify="right", no_wrap=True)
    for title in ("without:\nevaluated", "without:\nfirst token"):
        table.add_column(title, justify="right", no_wrap=True, style="dim")
    for row in rows:
        table.add_row(
            Text(row.part.label),
            _headers(row.part.ask),
            _outcome(row),
            f"{row.answer.prompt:,}",
            f"{row.answer.evaluated:,}",
            _time(row.answer.first_token),
            f"{row.twin.evaluated:,}",
            _time(row.twin.first_token),
        )
    return table


def _headers(ask: Ask) -> str:
    words = ("from", ask.start), ("keep", ask.keep)
    return ", ".join(f"{word} {name}" for word, name in words if name is not None)


def _outcome(row: Row) -> Text:
    said = row.answer.outcome or ("kept" if row.part.ask.keep else "-")
    if row.wrong:
        return Text(f"{said} WRONG", "bold red")
    return Text(said, _COLOURS.get(said, ""))


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
