"""KV memory against a model that lists every token's holders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_simulator.fleet.memory import Memory, Segment


@given(st.lists(st.tuples(st.sampled_from("thd"), st.integers(0, 30), st.integers(1, 9))))
def test_shared_beginnings_are_counted_once(steps: list[tuple[str, int, int]]) -> None:
    """The cells in use are those of every segment that a held state reaches, each once."""
    memory, held = Memory(), list[Segment]()
    most = 0
    for action, which, tokens in steps:
        if action == "t":
            parent = held[which % len(held)] if held and which % 3 else None
            held.append(memory.take(parent, tokens))
        elif held and action == "h":
            memory.hold(held[which % len(held)])
            held.append(held[which % len(held)])
        elif held:
            memory.drop(held.pop(which % len(held)))
        reached = set[Segment]()
        for state in held:
            segment: Segment | None = state
            while segment is not None:
                reached.add(segment)
                segment = segment.parent
        assert memory.used == sum(segment.tokens for segment in reached)
        most = max(most, memory.used)
    assert memory.peak == most


def test_ten_forks_hold_their_parent_once() -> None:
    memory = Memory(cells=2000)
    parent = memory.take(None, 1000)
    forks = [memory.take(parent, 10) for _ in range(10)]
    assert memory.used == 1100 and memory.free == 900
    memory.drop(parent)
    assert memory.used == 1100, "the forks still need it"
    for fork in forks:
        memory.drop(fork)
    assert memory.used == 0


def test_the_mean_is_over_time() -> None:
    now = 0.0
    memory = Memory(clock=lambda: now)
    state = memory.take(None, 100)
    now = 3.0
    memory.drop(state)
    assert memory.mean(until=4.0) == pytest.approx(75)
