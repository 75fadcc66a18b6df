"""Results as tables for people."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from halogen_simulator.fleet.record import Figures
from halogen_simulator.fleet.trials import Outcomes, Spread, Trial
from halogen_simulator.profile import Profile
from halogen_simulator.terminal import Terminal


def console() -> Console:
    """Where tables go: a file gets the whole width they need."""
    there = Terminal()
    return there if there.is_terminal else Terminal(width=_FILE_WIDTH)


def comparison(columns: dict[str, Figures], profile: Profile) -> Table:
    """One run beside others, such as the same agents without sessions."""
    table = Table(title=f"cost profile: {profile.name}")
    table.add_column("")
    for title in columns:
        table.add_column(title, justify="right")
    for label, cell in _ROWS.items():
        table.add_row(label, *(cell(figures, profile) for figures in columns.values()))
    return table


def shares(columns: dict[str, Figures]) -> Table:
    """What a run on a real server and a simulated one have in common."""
    table = Table("")
    for title in columns:
        table.add_column(title, justify="right")
    for label, cell in _SHARES.items():
        table.add_row(label, *(cell(figures) for figures in columns.values()))
    return table


def trials(results: Sequence[Outcomes]) -> Table:
    """One row a setting: what differs between the settings, then the figures. With several seeds
    shares are given as mean ± deviation, and the last column compares each seed with the same seed
    of the first policy: the agents are the same, so their differences count, not their spread."""
    table = Table(caption=_CAPTION, caption_justify="left")
    settings = [(title, get) for title, get in _SETTINGS.items() if title == "policy"]
    settings += [
        (title, get)
        for title, get in _SETTINGS.items()
        if title != "policy" and len({get(result.trial) for result in results}) > 1
    ]
    first = results[0].trial.service.policy
    for title, _ in settings:
        table.add_column(title, justify="left" if title == "policy" else "right", no_wrap=True)
    timed = not results[0].trial.profile.instant
    for title in ("used", "warm", "read", *(("TTFT p50", "p95") if timed else ()), "KV"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column(f"vs {first}", justify="right", no_wrap=True)
    for result in results:
        row = [get(result.trial) for _, get in settings]
        row += [_per_cent(result.spread(figure)) for figure in ("used", "warm", "read_share")]
        if timed:
            row += [seconds(result.spread(figure).mean) for figure in ("ttft_p50", "ttft_p95")]
        row += [tokens(result.spread("memory_mean").mean)]
        rival = _same_but_policy(results, result, first)
        row += [_per_cent(result.difference("used", rival), sign="+") if rival else "-"]
        table.add_row(*row)
    return table


def _same_but_policy(results: Sequence[Outcomes], result: Outcomes, policy: str) -> Outcomes | None:
    """The result of the same setting under another release policy."""
    wanted = replace(result.trial, service=replace(result.trial.service, policy=policy))
    return next((one for one in results if one.trial == wanted), None)


def share(value: float) -> str:
    """A share as per cent; a dash where there is none."""
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def seconds(value: float) -> str:
    """A time in the unit that reads best."""
    if math.isnan(value):
        return "-"
    if value == math.inf:
        return "inf"
    if value == 0:
        return "0"
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{value:,.0f} s"


def tokens(value: float) -> str:
    """A number of tokens, in thousands or millions where it is large."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"


def number(value: float) -> str:
    return "inf" if value == math.inf else f"{value:g}"


def _per_cent(spread: Spread, sign: str = "") -> str:
    if math.isnan(spread.mean):
        return "-"
    mean = f"{100 * spread.mean:{sign}.1f}"
    return f"{mean} ± {100 * spread.deviation:.1f}" if spread.seeds > 1 else mean


def _bytes(value: float, profile: Profile) -> str:
    return f"{tokens(value)} ({value * profile.bytes_per_token / 2**30:,.1f} GiB)"


_ROWS: dict[str, Callable[[Figures, Profile], str]] = {
    "requests": lambda f, p: f"{f.requests:,}",
    "that start from a name": lambda f, p: f"{f.starts:,}",
    "  used": lambda f, p: share(f.used),
    "  unmatched": lambda f, p: share(f.unmatched),
    "  unknown": lambda f, p: share(f.unknown),
    "used, main conversation": lambda f, p: share(f.by_kind["main"]),
    "used, a subagent's first": lambda f, p: share(f.by_kind["fork"]),
    "used, its further ones": lambda f, p: share(f.by_kind["subagent"]),
    "used, side requests": lambda f, p: share(f.by_kind["side"]),
    "conversations always warm": lambda f, p: share(f.warm),
    "prompt tokens": lambda f, p: tokens(f.prompt),
    "  of these read": lambda f, p: f"{tokens(f.evaluated)} ({share(f.read_share)})",
    "TTFT p50": lambda f, p: seconds(f.ttft_p50),
    "TTFT p95": lambda f, p: seconds(f.ttft_p95),
    "KV tokens, mean, all servers": lambda f, p: _bytes(f.memory_mean, p),
    "KV tokens, peak of a server": lambda f, p: _bytes(f.memory_peak, p),
    "names live at once, most": lambda f, p: f"{f.names_most:,}",
    "simulated time": lambda f, p: seconds(f.seconds),
}

_FILE_WIDTH = 120

_CAPTION = (
    "Shares in per cent. used: of the requests that start from a name. warm: conversations that "
    "always found their own name. read: of all prompt tokens. KV: tokens held, mean over time. "
    "vs: used, each seed against the same seed."
)

_SHARES: dict[str, Callable[[Figures], str]] = {
    "requests": lambda f: f"{f.requests:,}",
    "that start from a name": lambda f: f"{f.starts:,}",
    "  used": lambda f: share(f.used),
    "  unmatched": lambda f: share(f.unmatched),
    "  unknown": lambda f: share(f.unknown),
    "conversations always warm": lambda f: share(f.warm),
    "prompt tokens read": lambda f: share(f.read_share),
}

_SETTINGS: dict[str, Callable[[Trial], str]] = {
    "prog.": lambda trial: str(trial.workload.programs),
    "TTL": lambda trial: seconds(trial.service.ttl),
    "cap": lambda trial: number(trial.service.cap),
    "policy": lambda trial: trial.service.policy,
}
