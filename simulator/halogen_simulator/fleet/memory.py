"""KV memory: what conversations have in common is held once."""

import math
from collections.abc import Callable


class Segment:
    """Tokens at the end of a state. Its beginning belongs to the parent, shared with others."""

    __slots__ = ("holders", "parent", "tokens")

    def __init__(self, parent: "Segment | None", tokens: int) -> None:
        self.parent, self.tokens = parent, tokens
        self.holders = 1
        """States and segments that need this one."""


class Memory:
    """The cells of one server, one token each. ``clock`` gives seconds, for the mean over time."""

    def __init__(self, cells: float = math.inf, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.cells = cells
        self.used = 0
        self.peak = 0
        self._clock = clock
        self._since = 0.0
        self._area = 0.0

    @property
    def free(self) -> float:
        return self.cells - self.used

    def mean(self, until: float) -> float:
        """Cells in use, averaged over the time from 0 to ``until``."""
        area = self._area + self.used * (until - self._since)
        return area / until if until > 0 else float(self.used)

    def take(self, parent: Segment | None, tokens: int) -> Segment:
        """Cells for ``tokens`` more after ``parent``. The caller has made sure they are free."""
        if parent is not None:
            parent.holders += 1
        self._change(tokens)
        return Segment(parent, tokens)

    def hold(self, segment: Segment) -> None:
        """One more holder."""
        segment.holders += 1

    def drop(self, segment: Segment | None) -> None:
        """One holder less; cells that nobody holds any more are free."""
        freed = 0
        while segment is not None:
            segment.holders -= 1
            if segment.holders:
                break
            freed += segment.tokens
            segment = segment.parent
        if freed:
            self._change(-freed)

    def _change(self, by: int) -> None:
        now = self._clock()
        self._area += self.used * (now - self._since)
        self._since = now
        self.used += by
        self.peak = max(self.peak, self.used)
