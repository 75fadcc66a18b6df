"""Any mix of requests, forks, keeps and cancellations: all end, none disturbs another, and no cell
and no sequence is lost. The rules of a single plan are checked by the machine in every step."""

from dataclasses import dataclass
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.engine.llama import laying
from halogen_reference.engine.llama.sequence import Reply
from tests.engine.machine import Machine

CONTEXT = 120
BEGINNINGS = [list(range(start, start + 90)) for start in (100, 300)]


@dataclass(frozen=True)
class Wanted:
    """One request of a mix."""

    beginning: int
    common: int
    own: int
    out: int
    keep: bool
    fork: int | None
    """Which of the states there are to start from."""
    reuse: float
    pause: int
    """Steps until the next request."""
    cancel: bool


WANTED = st.builds(
    Wanted,
    beginning=st.integers(0, 1),
    common=st.integers(0, 90),
    own=st.integers(1, 8),
    out=st.integers(1, 20),
    keep=st.booleans(),
    fork=st.none() | st.integers(0, 3),
    reuse=st.floats(0, 1),
    pause=st.integers(0, 4),
    cancel=st.sampled_from([False, False, True]),
)


def submit(machine: Machine, wanted: Wanted, number: int) -> Reply:
    own = list(range(1000 * number, 1000 * number + wanted.own))
    if wanted.fork is None or wanted.fork >= len(machine.states):
        tokens = BEGINNINGS[wanted.beginning][: wanted.common] + own
        return machine.submit(tokens, out=wanted.out, keep=wanted.keep)
    state = machine.states[wanted.fork]
    reuse = min(int(wanted.reuse * len(state.tokens)), CONTEXT - 30)
    tokens = [*state.tokens[:reuse], *own]
    return machine.submit(tokens, out=wanted.out, keep=wanted.keep, start=state, reuse=reuse)


@given(
    st.lists(WANTED, min_size=1, max_size=12),
    st.integers(CONTEXT, 3 * CONTEXT),
    st.integers(1, 4),
    st.integers(0, 3),
    st.sampled_from([0, laying.WORTH_LAYING]),
)
def test_any_mix(
    mix: list[Wanted], cells: int, slots: int, more_sequences: int, worth: int
) -> None:
    with patch.object(laying, "WORTH_LAYING", worth):
        play(mix, cells, slots, more_sequences)


def play(mix: list[Wanted], cells: int, slots: int, more_sequences: int) -> None:
    machine = Machine(cells, slots, slots + more_sequences)
    replies, leaving = [], []
    for number, wanted in enumerate(mix, 1):
        reply = submit(machine, wanted, number)
        replies.append(reply)
        if wanted.cancel:
            leaving.append(reply)
        for _ in range(wanted.pause):
            machine.step()
        if leaving and wanted.pause % 2 == 0 and leaving[0] not in machine.finished:
            machine.cancel(leaving.pop(0))
    machine.run()
    for reply in replies:
        assert (reply in machine.finished) is (reply not in machine.stopped)
        assert reply.start is None
        if reply in machine.finished:
            assert reply.generated == reply.job.max_tokens
            assert set(reply.tokens[len(reply.job.tokens) :]) == {len(reply.job.tokens)}
    machine.check_empty()
