"""The KV pool's arithmetic: what several sequences have in common is held once.

Sequences form a tree of runs, each run some tokens that follow its parent's. A run lives as long as
somebody holds it or a run follows it; forking in the middle of one cuts it in two.
"""

from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Run:
    """Cells of consecutive tokens."""

    parent: "Run | None"
    before: int
    """Tokens before the first of this run."""
    count: int
    holders: int = 0
    """Sequences that end here, and runs that follow."""

    @property
    def end(self) -> int:
        return self.before + self.count


class Cells:
    """``total`` cells, one token each. A sequence is the :class:`Run` it ends with."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self._ends: dict[Run, int] = {}

    @property
    def free(self) -> int:
        """Below 0 while a request runs that had to be let in for others to end."""
        return self.total - self.used

    @property
    def shared(self) -> int:
        """Cells that more than one sequence holds, each counted once."""
        holding: dict[Run, int] = {}
        for end, sequences in self._ends.items():
            run: Run | None = end
            while run is not None:
                holding[run] = holding.get(run, 0) + sequences
                run = run.parent
        return sum(run.count for run, sequences in holding.items() if sequences > 1)

    def fork(self, end: Run | None, count: int, more: int) -> Run:
        """A sequence of the first ``count`` tokens of another, and ``more`` of its own."""
        parent = self._upto(end, count) if end is not None and count else None
        run = Run(parent, count, more, 1)
        if parent is not None:
            parent.holders += 1
        self.used += more
        self._ends[run] = 1
        return run

    def grow(self, run: Run, tokens: int) -> None:
        """More tokens for a sequence nobody else holds."""
        assert run.holders == 1, "a shared run cannot grow"
        run.count += tokens
        self.used += tokens

    def cut(self, run: Run, end: int) -> Run:
        """Shorten a sequence nobody else holds to its first ``end`` tokens; returns its new end."""
        if end >= run.before:
            self.used -= run.end - end
            run.count = end - run.before
            return run
        shorter = self.fork(run, end, 0)
        self.drop(run)
        return shorter

    def drop(self, run: Run) -> None:
        """The sequence is not held any longer."""
        del self._ends[run]
        gone: Run | None = run
        while gone is not None:
            gone.holders -= 1
            if gone.holders:
                return
            self.used -= gone.count
            gone = gone.parent

    def _upto(self, end: Run, count: int) -> Run:
        """The run that ends after ``count`` tokens, cut out of a longer one if need be."""
        run = end
        while run.before >= count and run.parent is not None:
            run = run.parent
        if run.end == count:
            return run
        assert run.before < count < run.end, "a fork reaches past its parent"
        upper = Run(run.parent, run.before, count - run.before, 1)
        run.parent, run.count, run.before = upper, run.end - count, count
        return upper
