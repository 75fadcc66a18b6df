"""The served fan-outs as a picture: every server beside the others, in seconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # (the backend is chosen first)
from matplotlib.axes import Axes

from bench.fanout import FanOut
from bench.ours import AGAIN, COLD_DIFFERENT, COLD_SAME, FAN_OUTS, FIRST, OTHER
from bench.report import OURS, Results

_NO_DATE = {"Date": None}

_MEANINGS = {
    COLD_DIFFERENT: "nothing of them was read before",
    COLD_SAME: "nothing of it was read before",
    FIRST: "one request has read all of it",
    AGAIN: "the same requests once more",
    OTHER: "the same conversation once more",
}
"""What a fan-out is, for who sees the picture and nothing else."""

_OURS_COLOUR, _COLOURS = "#1f6fb4", ("#c8803c", "#8c8c8c", "#6a9a58")
_BAR, _GAP = 0.78, 1.35
"""Rows: the thickness of a bar, and what a heading takes."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure of every fan-out, in seconds."""

    title: str
    """With the number of continuations in its braces."""
    figure: Callable[[FanOut], float]


PANELS = (
    Panel("Time to the first token, median of the {}", lambda one: one.first_p50),
    Panel("Time until all {} are answered", lambda one: one.wall),
)

Servers = Mapping[str, Mapping[str, Sequence[FanOut]]]
"""Server -> fan-out -> its runs."""


def servers(results: Results) -> Servers:
    """Ours first, and of the fan-outs those that every server was given."""
    others = [
        (name, {title: [one] for title, one in measured.items()})
        for name, measured in results.peers.items()
    ]
    titles = [title for title in FAN_OUTS if all(title in measured for _, measured in others)]
    ours = {title: [r.fan_outs[title] for r in results.rounds] for title in titles}
    return {OURS: ours, **dict(others)}


def heading(results: Results) -> tuple[str, str]:
    """What was done, and under which conditions."""
    shape, known = results.shape, results.conditions
    runs = len(results.rounds)
    times = f"; {OURS}: median of {runs} fresh servers" if runs > 1 else ""
    return (
        f"{shape.clients} continuations at once of a conversation of "
        f"{results.rounds[0].cells.history:,} tokens, {shape.tokens} tokens each",
        f"{known['model']} on {_plural(int(known['cores']), 'core')}, "
        f"{_plural(int(known['threads']), 'thread')}{times}; less is better",
    )


def write(results: Results, file: Path) -> None:
    """Draw the picture as SVG; folders on the way are made. Raises OSError."""
    measured = servers(results)
    titles = list(measured[OURS])
    rows = len(titles) * (len(measured) + _GAP)
    with matplotlib.rc_context(
        {
            "svg.fonttype": "none",  # letters as text: they can be searched and take half the room
            "svg.hashsalt": "halogen",  # the same figures give the same file
            "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
            "font.size": 10,
            "figure.constrained_layout.wspace": 0.06,
        }
    ):
        figure, panels = pyplot.subplots(
            1, len(PANELS), figsize=(11.5, 1.6 + 0.3 * rows), sharey=True, layout="constrained"
        )
        title, conditions = heading(results)
        figure.suptitle(f"{title}\n", fontsize=14, fontweight="bold", x=0.01, ha="left")
        figure.text(0.01, 1 - 0.5 / figure.get_figheight(), conditions, color="#555555")
        for axes, panel in zip(panels, PANELS, strict=True):
            _draw(axes, panel, measured)
            axes.set_title(panel.title.format(results.shape.clients), loc="left", fontsize=11)
        _headings(panels[0], titles, len(measured))
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, format="svg", metadata=_NO_DATE)
        pyplot.close(figure)


def _draw(axes: Axes, panel: Panel, measured: Servers) -> None:
    names, places, labels = list(measured), [], []
    for at, title in enumerate(measured[OURS]):
        top = at * (len(names) + _GAP) + _GAP
        for row, name in enumerate(names):
            seconds = median(panel.figure(run) for run in measured[name][title])
            colour = _OURS_COLOUR if name == OURS else _COLOURS[(row - 1) % len(_COLOURS)]
            bars = axes.barh(top + row, seconds, height=_BAR, color=colour)
            weight = "bold" if name == OURS else "normal"
            axes.bar_label(bars, [_seconds(seconds)], padding=3, fontweight=weight)
            places.append(top + row)
            labels.append(name)
    axes.set_yticks(places, labels)
    axes.set_xlim(0, axes.get_xlim()[1] * 1.1)  # room for the longest bar's seconds
    axes.set_ylim(places[-1] + 0.7, 0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("seconds")
    axes.spines[["top", "right"]].set_visible(False)


def _headings(axes: Axes, titles: Sequence[str], count: int) -> None:
    """A line over each group of bars."""
    for at, title in enumerate(titles):
        place = at * (count + _GAP) + _GAP - 0.75
        line = axes.annotate(
            f"{title[0].upper()}{title[1:]}: {_MEANINGS[title]}",
            (0, place),
            xytext=(6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontweight="bold",
            color="#333333",
        )
        line.set_in_layout(False)  # or the bars beside it would give way


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
