"""The timeline of one fan-out: a lane a branch, with its queue, prefill, first token and end."""

from collections.abc import Sequence

from halogen_loadtest.record import Record
from halogen_loadtest.report.chart import short
from halogen_loadtest.report.markup import Markup, tag
from halogen_loadtest.summary import groups, wall_of

_WIDTH, _LABEL, _RIGHT = 400.0, 62.0, 10.0
_LANE, _BAR, _FOOT = 15.0, 10.0, 22.0
MOST_LANES = 32


def chosen(records: Sequence[Record], *, sessions: bool) -> list[tuple[str, list[Record]]]:
    """The fan-outs to show, with a word for each: the first, one of middle length, the slowest."""
    found = [
        lanes
        for lanes in groups(one for one in records if one.sessions == sessions).values()
        if len(lanes) > 1
    ]
    if not found:
        return []
    first = min(found, key=lambda lanes: lanes[0].at)
    ordered = sorted(found, key=wall_of)
    picks = {
        "first": first,
        "typical": ordered[(len(ordered) - 1) // 2],
        "slowest": ordered[-1],
    }
    shown: list[tuple[str, list[Record]]] = []
    for word, lanes in picks.items():
        if all(lanes is not other for _, other in shown):
            shown.append((word, lanes))
    return shown


def timeline(title: str, lanes: Sequence[Record], seconds: float) -> Markup:
    """One fan-out on a scale of ``seconds``; the earliest lane begins at 0."""
    began = min(one.at for one in lanes)
    shown = sorted(lanes, key=_number)[:MOST_LANES]
    height = len(shown) * _LANE + _FOOT
    parts = [
        tag("line", x1=_x(share), x2=_x(share), y1=0, y2=height - _FOOT + 3, class_="grid")
        for share in (0.0, 0.5, 1.0)
    ]
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        label = f"{short(share * seconds)} s"
        parts.append(tag("text", label, x=_x(share), y=height - 6, text_anchor=anchor))
    for number, one in enumerate(shown):
        parts += _lane(one, number * _LANE, began, seconds)
    box = f"0 0 {_WIDTH:g} {height:g}"
    more = len(lanes) - len(shown)
    note = tag("p", f"{more} more lanes are not drawn.", class_="hint") if more > 0 else None
    picture = tag("svg", *parts, viewBox=box, role="img", aria_label=title)
    return tag("figure", tag("h3", title), picture, note, class_="chart")


def legend() -> Markup:
    """What the colours of a lane mean."""
    keys = (
        ("queue: sent, no answer yet", "queue"),
        ("prefill: the prompt is read", "prefill"),
        ("reply: from its first token to its end", "reply"),
        ("wrong", "wrong"),
    )
    return tag(
        "p",
        *(tag("span", tag("i", class_=f"key {style}"), name) for name, style in keys),
        class_="legend",
    )


def _number(one: Record) -> tuple[int, str]:
    digits = "".join(char for char in one.lane if char.isdigit())
    return (int(digits) if digits else 0, one.lane)


def _x(share: float) -> float:
    return _LABEL + min(1.0, max(0.0, share)) * (_WIDTH - _LABEL - _RIGHT)


def _lane(one: Record, top: float, began: float, seconds: float) -> list[Markup]:
    start = one.at - began
    headers = one.seconds if one.headers is None else one.headers
    first = one.seconds if one.first is None else one.first
    steps = (
        ("queue", 0.0, headers),
        ("prefill", headers, first),
        ("wrong" if one.result == "wrong" else "reply", first, one.seconds),
    )
    tip = (
        f"{one.step} {one.lane}: {one.outcome or one.result}, first token after {first:.3f} s, "
        f"end after {one.seconds:.3f} s, {one.evaluated:,} of {one.prompt:,} prompt tokens read"
    )
    parts = [tag("text", one.lane[:10], x=_LABEL - 5, y=top + _BAR - 1, text_anchor="end")]
    for style, begin, end in steps:
        left, right = _x((start + begin) / seconds), _x((start + end) / seconds)
        if right > left:
            parts.append(
                tag(
                    "rect",
                    tag("title", tip),
                    x=left,
                    y=top,
                    width=max(0.6, right - left),
                    height=_BAR,
                    class_=f"lane {style}",
                )
            )
    if one.first is not None:
        at = _x((start + one.first) / seconds)
        parts.append(tag("line", x1=at, x2=at, y1=top - 1, y2=top + _BAR + 1, class_="first"))
    return parts
