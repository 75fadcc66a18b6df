"""Charts over time as inline SVG: lines and stacked bars, colours by the page's style."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from halogen_loadtest.report.markup import Markup, join, tag

WIDTH, HEIGHT = 400.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 10.0, 26.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its values, one a piece of time, None where it has a gap."""

    name: str
    values: Sequence[float | None]
    style: str
    """A class of the style sheet, such as ``c1``."""
    joined: bool = False
    """Draw over gaps: for what is sampled more seldom than a piece is long."""


def nice(top: float) -> float:
    """The end of an axis that reaches ``top``: 1, 2 or 5 times a power of ten."""
    if top <= 0 or not math.isfinite(top):
        return 1.0
    step = 10.0 ** math.floor(math.log10(top))
    return next(step * times for times in (1, 2, 5, 10) if step * times >= top * 0.999)


def short(value: float) -> str:
    """A number in few characters: 0.25, 40, 1.2k, 3M."""
    for size, mark in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{mark}"
    return f"{value:.3g}"


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)


def _frame(top: float, seconds: float, unit: str) -> Markup:
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = _y(share * top, top)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        label = short(share * top) + (unit if share == 1.0 else "")
        parts.append(tag("text", label, x=LEFT - 5, y=y + 4, text_anchor="end"))
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        label = f"{share * seconds:.3g} s"
        parts.append(tag("text", label, x=_x(share), y=HEIGHT - 8, text_anchor=anchor))
    return join(parts)


def _legend(names: Sequence[tuple[str, str]]) -> Markup:
    keys = [tag("span", tag("i", class_=f"key {style}"), name) for name, style in names]
    return tag("figcaption", *keys, class_="legend")


def _figure(title: str, names: Sequence[tuple[str, str]], *parts: Markup) -> Markup:
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    picture = tag("svg", *parts, viewBox=box, role="img", aria_label=title)
    return tag("figure", tag("h3", title), picture, _legend(names), class_="chart")


def _phases(shades: Sequence[tuple[float, float, str]]) -> Markup:
    """Parts of the time (shares from and to) with their names, behind everything else."""
    parts = []
    for number, (begin, end, name) in enumerate(shades):
        left, right = _x(begin), _x(end)
        parts.append(
            tag(
                "rect",
                x=left,
                y=TOP,
                width=max(0.0, right - left),
                height=HEIGHT - TOP - BOTTOM,
                class_=f"phase p{number % 2}",
            )
        )
        parts.append(tag("text", name, x=left + 4, y=TOP + 11, class_="soft"))
    return join(parts)


def lines(
    title: str,
    rows: Sequence[Line],
    seconds: float,
    *,
    unit: str = "",
    shades: Sequence[tuple[float, float, str]] = (),
) -> Markup:
    """A chart of lines over ``seconds``."""
    every = [value for row in rows for value in row.values if value is not None]
    top = nice(max(every, default=1.0))
    parts = [_phases(shades), _frame(top, seconds, unit)]
    for row in rows:
        parts += [_path(row, piece, top) for piece in _runs(row)]
    return _figure(title, [(row.name, row.style) for row in rows], *parts)


def _runs(row: Line) -> list[list[tuple[float, float]]]:
    """The stretches without a gap, as (share of the time, value)."""
    found: list[list[tuple[float, float]]] = [[]]
    for number, value in enumerate(row.values):
        if value is not None:
            found[-1].append(((number + 0.5) / len(row.values), value))
        elif not row.joined:
            found.append([])
    return [one for one in found if one]


def _path(row: Line, points: Sequence[tuple[float, float]], top: float) -> Markup:
    where = [(_x(share), _y(value, top)) for share, value in points]
    if len(where) == 1:
        return tag("circle", cx=where[0][0], cy=where[0][1], r=2.5, class_=f"dot {row.style}")
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
    return tag("polyline", points=path, class_=f"line {row.style}")


def bars(
    title: str,
    stacks: Mapping[str, tuple[Sequence[float], str]],
    seconds: float,
    *,
    unit: str = "",
    shades: Sequence[tuple[float, float, str]] = (),
) -> Markup:
    """Stacked bars: name to its values, one a piece of time, and its style."""
    rows = {name: row for name, row in stacks.items() if any(row[0])}
    count = max((len(values) for values, _ in stacks.values()), default=1)
    sums = [sum(values[i] for values, _ in rows.values()) for i in range(count)]
    top = nice(max(sums, default=1.0))
    parts = [_phases(shades), _frame(top, seconds, unit)]
    width = (WIDTH - LEFT - RIGHT) / count
    for number in range(count):
        below = 0.0
        for name, (values, style) in rows.items():
            value = values[number]
            if value:
                y, base = _y(below + value, top), _y(below, top)
                tip = tag("title", f"{name}: {value:,.0f}")
                parts.append(
                    tag(
                        "rect",
                        tip,
                        x=_x(number / count) + width * 0.05,
                        y=y,
                        width=width * 0.9,
                        height=base - y,
                        class_=f"bar {style}",
                    )
                )
            below += value
    return _figure(title, [(name, style) for name, (_, style) in rows.items()], *parts)
