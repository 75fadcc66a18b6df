"""Figures as people read them."""

from collections.abc import Callable, Sequence

from halogen_loadtest.percentile import percentile
from halogen_loadtest.summary import Figures, Spread


def amount(value: float) -> str:
    """A number without decimals, its thousands set off by commas."""
    return f"{value:,.0f}"


def share_of(value: float | None) -> str:
    """A share as per cent."""
    return "-" if value is None else f"{100 * value:.1f} %"


def time_of(value: float | None) -> str:
    """Seconds, or milliseconds when there is less than one."""
    if value is None:
        return "-"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def seconds_of(values: Sequence[float], share: float) -> str:
    """A percentile of seconds."""
    return time_of(percentile(values, share))


def _spread(value: Spread) -> str:
    shown = " / ".join(time_of(one) for one in (value.p50, value.p95, value.p99))
    return "-" if value.p50 is None else shown


def _rate(figures: Figures) -> str:
    return f"{figures.requests / figures.seconds:.1f} a second" if figures.seconds else "-"


def _outcomes(figures: Figures) -> str:
    parts = [f"{count:,} {word}" for word, count in sorted(figures.outcomes.items())]
    return ", ".join(parts) or "none said"


def _results(figures: Figures) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in sorted(figures.results.items()))


_ROWS: tuple[tuple[str, Callable[[Figures], str]], ...] = (
    ("requests", lambda half: f"{half.requests:,}, {_rate(half)}"),
    ("answers", _results),
    ("outcomes", _outcomes),
    ("used, of those that went on from a name", lambda half: share_of(half.used_share)),
    ("time to first token, p50 / p95 / p99", lambda half: _spread(half.ttft)),
    ("between tokens, p50 / p95 / p99", lambda half: _spread(half.gap)),
    ("asked at once, wall p50 / p95 / p99", lambda half: _spread(half.wall)),
    ("prompt tokens read", lambda half: f"{half.evaluated:,} of {half.prompt:,}"),
    ("prompt tokens saved", lambda half: share_of(half.saved)),
    ("tokens generated", lambda half: amount(half.output)),
)


def rows_of(
    halves: Sequence[tuple[str, Figures | None]],
) -> list[tuple[str, Callable[[Figures], str]]]:
    """The rows of the table of figures; of a single half those that say something."""
    there = [half for _, half in halves if half is not None]
    return [(name, show) for name, show in _ROWS if any(show(half) != "-" for half in there)]
