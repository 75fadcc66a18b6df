"""Who gets memory and who is in the next batch: the rules, one by one."""

from collections.abc import Callable

import pytest

from halogen_reference.engine.llama.scheduler import (
    PREFILL_ALONE,
    PREFILL_BESIDE,
    WORTH_SHARING,
)
from halogen_reference.engine.llama.sequence import LlamaState, Reply
from halogen_reference.engine.protocol import Started
from tests.engine.machine import Machine


def prompt(first: int, length: int = 10) -> list[int]:
    """A prompt with no common beginning with another first token's."""
    return [first, *range(1000, 1000 + length - 1)]


def kept(machine: Machine, tokens: list[int], out: int = 1) -> LlamaState:
    machine.submit(tokens, out=out, keep=True)
    machine.run()
    return machine.states[-1]


def started(reply: Reply) -> bool:
    return not reply.events.empty() and isinstance(reply.events.get_nowait(), Started)


def test_requests_are_placed_as_they_came() -> None:
    machine = Machine(cells=200, slots=3)
    replies = [machine.submit(prompt(i), out=5) for i in range(5)]
    machine.step()
    assert machine.scheduler.running == replies[:3]
    assert [started(reply) for reply in replies] == [True] * 3 + [False] * 2
    machine.run()
    assert machine.finished == replies


def test_nobody_overtakes_a_request_that_waits_for_room() -> None:
    machine = Machine(cells=60)
    first = machine.submit(prompt(1, 40), out=10)
    large, small = machine.submit(prompt(2, 30)), machine.submit(prompt(3, 5))
    machine.step()
    assert machine.scheduler.running == [first]
    assert list(machine.scheduler.waiting) == [large, small]
    machine.run()
    assert machine.finished == [first, large, small]


def test_kept_states_go_before_anyone_waits() -> None:
    """The one unused for longest first, and no more than needed."""
    machine = Machine(cells=60)
    states = [kept(machine, prompt(i, 15)) for i in range(3)]
    reply = machine.submit(prompt(9, 25), out=2)
    machine.step()
    assert machine.scheduler.running == [reply]
    assert machine.states == states[1:]


def test_a_started_request_outlives_its_state_s_name() -> None:
    """LIFE-6: released while the request still waits for its turn."""
    machine = Machine(cells=60, slots=1)
    state = kept(machine, prompt(1, 20))
    busy = machine.submit(prompt(2), out=3)
    machine.step()
    fork = machine.submit([*state.tokens, 7], start=state, reuse=len(state.tokens))
    machine.release_one()
    machine.run()
    assert machine.finished[-2:] == [busy, fork]
    assert fork.evaluated == 2, "the last token of the state, which was never read, and the new one"
    machine.check_empty()


def test_the_youngest_gives_way() -> None:
    """A running reply needs a cell and there is none: the last one placed is evaluated anew."""
    machine = Machine(cells=40)
    old, young = machine.submit(prompt(1), out=22), machine.submit(prompt(2), out=22)
    machine.step()
    while young in machine.scheduler.running:
        machine.step()
    assert machine.scheduler.running == [old] and young.generated > 0
    assert list(machine.scheduler.waiting) == [young] and young.resident == 0
    written = list(young.tokens)
    machine.run()
    assert machine.finished == [old, young]
    assert young.tokens[: len(written)] == written, "what was sent stays"
    assert young.evaluated == 10, "reading again is no cost of the request's"
    assert [started(young), started(young)] == [True, False], "it is announced once"
    machine.check_empty()


def test_the_oldest_goes_on_in_every_step() -> None:
    machine = Machine(cells=50, slots=4)
    oldest = machine.submit(prompt(0), out=38)
    for i in range(1, 4):
        machine.submit(prompt(i), out=30)
    while oldest not in machine.finished:
        before = oldest.resident
        machine.step()
        assert oldest.resident > before or oldest in machine.finished
    machine.run()
    machine.check_empty()


def test_a_full_hit_reads_one_token() -> None:
    """Its logits choose the reply's first token."""
    machine = Machine(cells=60)
    state = kept(machine, prompt(1, 20), out=4)
    whole = list(state.tokens[:22])
    hit = machine.submit(whole, start=state, reuse=22)
    machine.run()
    assert hit.evaluated == 1
    machine.check_empty()


@pytest.mark.parametrize(("reuse", "evaluated"), [(0, 22), (10, 12), (20, 2), (21, 1)])
def test_what_a_state_holds_is_not_read_again(reuse: int, evaluated: int) -> None:
    """FROM-7: up to the place from which the request goes its own way."""
    machine = Machine(cells=80)
    state = kept(machine, prompt(1, 20), out=4)
    tokens = [*state.tokens[:reuse], *range(5000, 5022 - reuse)]
    fork = machine.submit(tokens, start=state, reuse=reuse)
    machine.run()
    assert fork.evaluated == evaluated == len(fork.job.tokens) - reuse
    assert state.tokens[:20] == tuple(prompt(1, 20)), "the parent is as it was (FROM-3)"


def test_forks_share_their_history_s_cells() -> None:
    machine = Machine(cells=200, slots=8)
    state = kept(machine, prompt(1, 100))
    for i in range(8):
        machine.submit([*state.tokens, 7000 + i], start=state, reuse=101, out=2)
    machine.step()
    cells = machine.scheduler.cells
    # The last token of the state was never read: each reads it, and its own.
    assert cells.held() == (100 + 8 * 2, 100)


def test_requests_that_begin_alike_read_the_beginning_once() -> None:
    """They arrive together, so nothing is kept yet; the later ones wait for the first."""
    machine = Machine(cells=2000, slots=4)
    common = list(range(2000, 2000 + 300))
    replies = [machine.submit([*common, i], out=2) for i in range(4)]
    first = machine.step()
    assert [reply for reply, _ in first] == replies[:1], "the others wait"
    machine.run()
    assert [reply.evaluated for reply in replies] == [301, 1, 1, 1]
    machine.check_empty()


@pytest.mark.parametrize(("common", "waits"), [(WORTH_SHARING, False), (WORTH_SHARING + 1, True)])
def test_little_in_common_is_not_worth_the_wait(common: int, waits: bool) -> None:
    machine = Machine(cells=600)
    head = list(range(2000, 2000 + common))
    machine.submit([*head, 1, 2, 3], out=2)
    second = machine.submit([*head, 4, 5, 6])
    machine.run()
    assert second.evaluated == (3 if waits else common + 3)


def test_a_waiting_request_does_not_wait_for_one_that_left() -> None:
    machine = Machine(cells=900)
    common = list(range(2000, 2000 + 300))
    first, second = machine.submit([*common, 1]), machine.submit([*common, 2])
    machine.step()
    machine.cancel(first)
    machine.run()
    assert machine.finished == [second] and second.evaluated == 301
    machine.check_empty()


def test_a_long_prompt_does_not_stop_the_streams() -> None:
    machine = Machine(cells=2000)
    stream = machine.submit(prompt(1), out=50)
    machine.step()
    machine.submit(prompt(2, 1000))
    for _ in range(5):
        batch = machine.step()
        assert [(reply is stream, len(row.tokens)) for reply, row in batch] == [
            (True, 1),
            (False, PREFILL_BESIDE),
        ]


def test_a_prompt_alone_takes_the_whole_batch() -> None:
    machine = Machine(cells=2000)
    machine.submit(prompt(2, 1000))
    machine.submit(prompt(3, 1000))
    assert [len(row.tokens) for _, row in machine.step()] == [PREFILL_ALONE]


def test_a_cut_reply_keeps_what_was_shown() -> None:
    """KEEP-2: a stop string in the middle of a token: the state ends where the text does."""
    machine = Machine(cells=60)
    reply = machine.submit(prompt(1), out=9, keep=False)
    while reply.generated < 4:
        machine.step()
    tokens = [*reply.tokens[:12], 77]
    state = machine.scheduler.keep(reply, tokens, 12)
    machine.states.append(state)
    assert (state.tokens, state.resident, state.size) == (tuple(tokens), 12, 120)
    fork = machine.submit([*tokens, 78], start=state, reuse=13)
    machine.run()
    assert fork.evaluated == 2
    machine.check_empty()


def test_pinned_states_do_not_block_the_queue() -> None:
    """Nothing runs, and what fills the memory is held only by requests further back."""
    machine = Machine(cells=60)
    state = kept(machine, prompt(1, 40))
    first = machine.submit(prompt(2, 50))
    fork = machine.submit([*state.tokens, 5], start=state, reuse=len(state.tokens))
    machine.run(100)
    assert machine.finished[-2:] == [first, fork]
    assert fork.evaluated == len(fork.job.tokens), "started cold"
    machine.check_empty()


@pytest.mark.parametrize(("cells", "sequences"), [(60, 8), (90, 1)])
def test_a_state_does_not_block_the_one_that_starts_from_it(cells: int, sequences: int) -> None:
    """A request that shares little of the state it starts from does not fit in beside it: for want
    of cells, or of a second sequence."""
    machine = Machine(cells=cells, sequences=sequences, slots=1)
    state = kept(machine, prompt(1, 40))
    fork = machine.submit([*state.tokens[:10], *prompt(2, 30)], start=state, reuse=10)
    machine.run(100)
    assert machine.finished[-1] is fork
    assert fork.evaluated == len(fork.job.tokens), "started cold"
    machine.check_empty()


def test_states_are_released_until_a_sequence_is_free() -> None:
    machine = Machine(cells=500, sequences=3, slots=2)
    for i in range(3):
        kept(machine, prompt(i))
    machine.submit(prompt(7))
    machine.run()
    assert len(machine.states) == 2
    machine.check_empty()


def misuse(name: str) -> Callable[[LlamaState], object]:
    return {"retain": LlamaState.retain, "release": LlamaState.release}[name]


@pytest.mark.parametrize(
    ("name", "message"), [("retain", "a released state"), ("release", "released twice")]
)
def test_a_released_state_is_gone(name: str, message: str) -> None:
    machine = Machine(cells=60)
    state = kept(machine, prompt(1))
    machine.release_one()
    with pytest.raises(AssertionError, match=message):
        misuse(name)(state)
