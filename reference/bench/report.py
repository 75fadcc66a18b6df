"""The tables a person reads, and the same as JSON."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from statistics import median

from rich.console import Console
from rich.table import Table

from bench.bookkeeping import Bookkeeping
from bench.fanout import FanOut
from bench.ours import FAN_OUTS, Round
from bench.targets import Target
from bench.workload import Shape
from demo.process import environment
from halogen_reference.engine.llama import waiting
from halogen_reference.settings import packaged_model
from halogen_reference.settings import read as read_settings

OURS = "reference"
"""What this project's server is called beside the others."""

_MARKS = {True: "[green]met[/]", False: "[red]missed[/]", None: "[yellow]not judged[/]"}


@dataclass(frozen=True, slots=True)
class Results:
    shape: Shape
    rounds: Sequence[Round]
    peers: Mapping[str, Mapping[str, FanOut]]
    """The other servers' fan-outs, by the server's name."""
    books: Bookkeeping
    targets: Sequence[Target]
    conditions: dict[str, str]

    def json(self) -> dict[str, object]:
        return asdict(self)


def conditions(peers: Mapping[str, str]) -> dict[str, str]:
    """What the figures depend on, as it is now. ``peers``: the other servers' versions."""
    chosen = read_settings()
    packages = ("halogen-sessions-kit", "llama-cpp-python", "uvicorn", "starlette", "httpx")
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "threads": str(chosen.threads),
        "load average": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        **waiting.chosen(environment({})),
        "model": (chosen.checkpoint or packaged_model()).stem,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        **peers,
    }


def show(out: Console, results: Results) -> None:
    """Print everything."""
    shape = results.shape
    title = (
        f"{shape.clients} continuations at once, {shape.tokens} tokens each, "
        f"median of {len(results.rounds)}"
    )
    out.print(_fan_outs(title, results))
    bare = [r.bare for r in results.rounds]
    out.print(
        f"Bare loop: {median(b.decode for b in bare):.0f} tokens/s at a depth of {bare[0].common} "
        f"shared tokens and {bare[0].own} own; the shared ones took "
        f"{median(b.prefill for b in bare):.1f} s to evaluate."
    )
    short = {OURS: sum(one.short for r in results.rounds for one in r.fan_outs.values())}
    for name, measured in results.peers.items():
        short[name] = sum(one.short for one in measured.values())
    for name, count in short.items():
        if count:
            replies = "reply" if count == 1 else "replies"
            out.print(f"{name}: {count} {replies} ended early, which shortens its wall times.")
    out.print(_targets(results.targets))
    out.print("; ".join(f"{name} {value}" for name, value in results.conditions.items()))


def _fan_outs(title: str, results: Results) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("server")
    table.add_column("fan-out")
    for column in ("TTFT p50", "TTFT max", "wall", "decode", "evaluated", "KV cells"):
        table.add_column(column, justify="right", no_wrap=True)
    for fan_out in FAN_OUTS:
        _row(table, OURS, fan_out, [r.fan_outs[fan_out] for r in results.rounds])
    for server, measured in results.peers.items():
        table.add_section()
        for fan_out, one in measured.items():
            _row(table, server, fan_out, [one])
    return table


def _row(table: Table, server: str, title: str, runs: Sequence[FanOut]) -> None:
    def mid(pick: Callable[[FanOut], float | None], form: str) -> str:
        values = [value for run in runs if (value := pick(run)) is not None]
        return format(median(values), form) if values else "-"

    table.add_row(
        server,
        title,
        f"{mid(lambda run: run.first_p50, '.2f')} s",
        f"{mid(lambda run: run.first_max, '.2f')} s",
        f"{mid(lambda run: run.wall, '.2f')} s",
        f"{mid(lambda run: run.decode, '.0f')} tok/s",
        mid(lambda run: run.evaluated, ",.0f"),
        mid(lambda run: run.cells, ",.0f"),
    )


def _targets(targets: Sequence[Target]) -> Table:
    table = Table(title="To reach", title_justify="left")
    table.add_column("what")
    table.add_column("wanted", no_wrap=True)
    table.add_column("measured")
    table.add_column("", no_wrap=True)
    for target in targets:
        table.add_row(target.text, target.wanted, target.measured, _MARKS[target.met])
    return table
