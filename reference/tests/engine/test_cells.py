"""Cells: any sequence of takes, shares and drops, against plain counting."""

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from halogen_reference.engine.llama.cells import CellIds, Cells

TOTAL = 12


class Holders(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cells = Cells(TOTAL)
        self.held: list[CellIds] = []

    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        before = self.count()
        ids = self.cells.take(data.draw(st.integers(0, self.cells.free)))
        assert len(set(ids.tolist())) == len(ids)
        assert not before.keys() & set(ids.tolist()), "somebody holds it already"
        self.held.append(ids)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def share(self, data: st.DataObject) -> None:
        ids = data.draw(st.sampled_from(self.held))
        count = data.draw(st.integers(0, len(ids)))
        self.held.append(self.cells.share(ids[:count]))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        """The end of what somebody holds, or all of it."""
        at = data.draw(st.integers(0, len(self.held) - 1))
        ids = self.held.pop(at)
        keep = data.draw(st.integers(0, len(ids)))
        self.cells.drop(ids[keep:])
        if keep:
            self.held.append(ids[:keep])

    def count(self) -> Counter[int]:
        return Counter(cell for ids in self.held for cell in ids.tolist())

    @invariant()
    def adds_up(self) -> None:
        count = self.count()
        assert self.cells.used == len(count)
        assert self.cells.free + self.cells.used == TOTAL
        assert self.cells.held()[1] == sum(holders > 1 for holders in count.values())
        assert all(0 <= cell < TOTAL for cell in count)


TestHolders = Holders.TestCase
TestHolders.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_no_more_is_taken_than_is_free() -> None:
    cells = Cells(3)
    cells.take(2)
    with pytest.raises(AssertionError, match="more cells taken than are free"):
        cells.take(2)


def test_all_comes_back() -> None:
    cells = Cells(3)
    ids = cells.take(3)
    forks = [cells.share(ids[:2]) for _ in range(8)]
    assert cells.held() == (3, 2)
    for fork in forks:
        cells.drop(fork)
    assert cells.held() == (3, 0)
    cells.drop(ids)
    assert sorted(cells.take(3).tolist()) == [0, 1, 2]
