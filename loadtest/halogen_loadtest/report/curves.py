"""Which charts a run has, made from its records and its samples."""

from collections import defaultdict
from collections.abc import Sequence

from halogen_loadtest.record import Record
from halogen_loadtest.report.chart import Line, bars, lines
from halogen_loadtest.report.markup import Markup
from halogen_loadtest.report.series import Axis, axis, outcomes, percentiles, tokens
from halogen_loadtest.result import Result
from halogen_loadtest.target import CELLS_USED

_OUTCOME_STYLES = {"used": "c3", "unmatched": "c2", "unknown": "c4", "none": "c5"}
_PERCENTILES = ((0.5, "p50", "c1"), (0.95, "p95", "c2"), (0.99, "p99", "c4"))


def of(result: Result) -> list[Markup]:
    """All charts that have something to show."""
    time = axis(result.began, result.ended)
    seconds, shades = time.seconds, _shades(result, time)
    own = [one for one in result.records if not one.twin]
    pieces = time.cut(own)

    def percentile_lines(name: str) -> list[Line]:
        return [
            Line(word, percentiles(pieces, lambda one: getattr(one, name), share), style)
            for share, word, style in _PERCENTILES
        ]

    first, gap = percentile_lines("first"), percentile_lines("gap")
    charts = [
        lines("Time to first token", first, seconds, unit=" s", shades=shades),
        lines("Mean time between tokens of a reply", gap, seconds, unit=" s", shades=shades),
        bars(
            "Outcomes",
            {word: (row, _OUTCOME_STYLES[word]) for word, row in outcomes(pieces).items()},
            seconds,
            shades=shades,
        ),
        bars(
            "Prompt tokens",
            {
                name: (row, style)
                for (name, row), style in zip(tokens(pieces).items(), ("c2", "c3"), strict=True)
            },
            seconds,
            shades=shades,
        ),
    ]
    return [*charts, *_samples(result, time, shades)]


def _samples(
    result: Result, time: Axis, shades: Sequence[tuple[float, float, str]]
) -> list[Markup]:
    """Charts of what was sampled beside the exchanges: the load test's processes, the server."""
    cpu: list[list[float]] = [[] for _ in range(time.count)]
    under_way: list[list[float]] = [[] for _ in range(time.count)]
    for at, used, count in result.generators:
        cpu[time.piece(at)].append(used)
        under_way[time.piece(at)].append(float(count))
    names: list[list[float]] = [[] for _ in range(time.count)]
    cells: list[list[float]] = [[] for _ in range(time.count)]
    for gauge in result.gauges:
        names[time.piece(gauge.at)].append(float(gauge.names))
        if CELLS_USED in gauge.gauges:
            cells[time.piece(gauge.at)].append(gauge.gauges[CELLS_USED])
    titled = (
        ("Exchanges under way", under_way, "c1", ""),
        ("Load test's processor time, all processes", cpu, "c5", " %"),
        ("Live names", names, "c3", ""),
        ("KV cells in use", cells, "c4", ""),
    )
    return [
        lines(
            title,
            [Line(title.lower(), [max(piece, default=None) for piece in row], style, True)],
            time.seconds,
            unit=unit,
            shades=shades,
        )
        for title, row, style, unit in titled
        if any(row)
    ]


def _shades(result: Result, time: Axis) -> list[tuple[float, float, str]]:
    """The phases of a comparison as shares of the time; of other runs none."""
    if len(result.phases) < 2:
        return []
    starts = [min(1.0, (at - result.began) / time.seconds) for at, _ in result.phases]
    words = ["with sessions" if sessions else "without" for _, sessions in result.phases]
    return list(zip(starts, [*starts[1:], 1.0], words, strict=True))


def steps(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """The exchanges by step, those without sessions and the twins apart."""
    found: dict[str, list[Record]] = defaultdict(list)
    for one in records:
        kind = " (twin)" if one.twin else "" if one.sessions else " (no sessions)"
        found[one.step + kind].append(one)
    return sorted(found.items())
