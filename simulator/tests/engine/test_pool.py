"""The pool's arithmetic against a model that counts every cell by its owner's history."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from halogen_simulator.pool import Cells, Run

Cell = int


class PoolMachine(RuleBasedStateMachine):
    """Every sequence is modelled as the list of its cells' numbers; forks share numbers."""

    sequences = Bundle("sequences")

    def __init__(self) -> None:
        super().__init__()
        self.cells = Cells(1000)
        self.model: dict[Run, list[Cell]] = {}
        self.numbers = iter(range(10**9))

    def take(self, count: int) -> list[Cell]:
        return [next(self.numbers) for _ in range(count)]

    @initialize(target=sequences)
    def first(self) -> Run:
        return self.fresh(20)

    @rule(target=sequences, count=st.integers(0, 20))
    def new(self, count: int) -> Run:
        return self.fresh(count)

    def fresh(self, count: int) -> Run:
        run = self.cells.fork(None, 0, count)
        self.model[run] = self.take(count)
        return run

    @rule(target=sequences, source=sequences, share=st.floats(0, 1), more=st.integers(0, 9))
    def fork(self, source: Run, share: float, more: int) -> Run:
        held = self.model[source]
        count = round(share * len(held))
        run = self.cells.fork(source, count, more)
        self.model[run] = held[:count] + self.take(more)
        return run

    @rule(source=sequences, count=st.integers(1, 9))
    def grow(self, source: Run, count: int) -> None:
        if source.holders == 1:
            self.cells.grow(source, count)
            self.model[source] += self.take(count)

    @rule(target=sequences, source=consumes(sequences), share=st.floats(0, 1))
    def cut(self, source: Run, share: float) -> Run:
        held = self.model.pop(source)
        count = round(share * len(held))
        if source.holders > 1:
            self.model[source] = held
            return source
        run = self.cells.cut(source, count)
        self.model[run] = held[:count]
        return run

    @rule(source=consumes(sequences))
    def drop(self, source: Run) -> None:
        self.cells.drop(source)
        del self.model[source]

    @invariant()
    def counts_agree(self) -> None:
        holders: dict[Cell, int] = {}
        for held in self.model.values():
            for cell in held:
                holders[cell] = holders.get(cell, 0) + 1
        assert self.cells.used == len(holders)
        assert self.cells.shared == sum(count > 1 for count in holders.values())
        assert all(run.end == len(held) for run, held in self.model.items())


TestPool = PoolMachine.TestCase
TestPool.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
