"""A run cut into equal pieces of time, for what changes over it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from halogen_loadtest.percentile import percentile
from halogen_loadtest.record import Record

MOST_PIECES = 60
OUTCOMES = ("used", "unmatched", "unknown", "none")


@dataclass(frozen=True, slots=True)
class Axis:
    """Time from the start of the run, in ``count`` pieces of ``width`` seconds."""

    began: float
    width: float
    count: int

    @property
    def seconds(self) -> float:
        return self.width * self.count

    def piece(self, at: float) -> int:
        """The piece a Unix time falls into; the ends take what lies outside."""
        return min(self.count - 1, max(0, int((at - self.began) / self.width)))

    def cut(self, records: Iterable[Record]) -> list[list[Record]]:
        """Exchanges by the piece in which they began."""
        pieces: list[list[Record]] = [[] for _ in range(self.count)]
        for one in records:
            pieces[self.piece(one.at)].append(one)
        return pieces


def axis(began: float, ended: float) -> Axis:
    """Pieces of whole seconds, or of half a second in short runs."""
    seconds = max(0.5, ended - began)
    width = 0.5 if seconds <= 10 else max(1.0, math.ceil(seconds / MOST_PIECES))
    return Axis(began, width, max(1, math.ceil(seconds / width)))


def percentiles(
    pieces: Sequence[Sequence[Record]],
    value: Callable[[Record], float | None],
    share: float,
) -> list[float | None]:
    """One value a piece; None where there is nothing to tell."""
    return [
        percentile([got for one in piece if (got := value(one)) is not None], share)
        for piece in pieces
    ]


def outcomes(pieces: Sequence[Sequence[Record]]) -> dict[str, list[float]]:
    """How many answers of each outcome in each piece."""
    counts = [Counter(one.outcome for one in piece if one.outcome) for piece in pieces]
    return {word: [float(count[word]) for count in counts] for word in OUTCOMES}


def tokens(pieces: Sequence[Sequence[Record]]) -> dict[str, list[float]]:
    """Prompt tokens evaluated and reused in each piece."""
    return {
        "evaluated": [float(sum(one.evaluated for one in piece)) for piece in pieces],
        "reused": [float(sum(one.cached for one in piece)) for piece in pieces],
    }
