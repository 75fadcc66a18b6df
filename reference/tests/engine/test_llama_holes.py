"""FROM-6 on a server in use: what was released before leaves no trace in a reply."""

import asyncio

import pytest

from halogen_reference.call import Sampling
from halogen_reference.engine.llama import laying
from halogen_reference.engine.llama.engine import LlamaEngine
from halogen_reference.engine.llama.sequence import LlamaState
from tests.engine.asking import Answer, ask, make_engine, prompt, turn, until, until_empty

pytestmark = pytest.mark.asyncio(loop_scope="module")

WATCHED = Sampling(temperature=0, logprobs=0)
SUBJECTS = ("bridges", "tunnels", "rivers", "whales")


def told(answer: Answer) -> list[float]:
    """Not only the same words: the model was exactly as sure of each."""
    return [logprob.chosen.logprob for logprob in answer.logprobs]


async def test_holes_below_a_state_change_nothing(engine: LlamaEngine) -> None:
    """Fill memory in order, release every other state, and fork the rest."""
    kept = []
    for subject in SUBJECTS:
        opening = prompt(engine, f"Tell me about {subject}, and why they matter to people.")
        kept.append((await ask(engine, opening, keep=True)).state)
    for state in kept[::2]:
        state.release()
    for state in kept[1::2]:
        tokens = [*state.tokens, *turn(engine, "And what is the most surprising fact?")]
        forks = [ask(engine, tokens, 16, start=state, sampling=WATCHED) for _ in range(3)]
        answers = await asyncio.gather(*forks, ask(engine, tokens, 16, sampling=WATCHED))
        answers.append(await ask(engine, tokens, 16, sampling=WATCHED))
        assert len({answer.text for answer in answers}) == 1
        assert all(told(answer) == told(answers[0]) for answer in answers)
        state.release()


async def test_states_that_are_laid_anew_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free what lies below a state and its fork, and see them move down together."""
    monkeypatch.setattr(laying, "WORTH_LAYING", 20)
    engine = make_engine(context=500, pool=500, slots=4)
    await engine.start()
    below = [await ask(engine, prompt(engine, f"A line on {s}."), 40, keep=True) for s in SUBJECTS]
    opening = prompt(engine, "Tell me about whales, and why they matter to people.")
    parent = (await ask(engine, opening, keep=True)).state
    child = [*parent.tokens, *turn(engine, "Where do they live?")]
    fork = (await ask(engine, child, start=parent, keep=True)).state
    before = {}
    for state in (parent, fork):
        tokens = [*state.tokens, *turn(engine, "And what is the most surprising fact?")]
        before[state] = tokens, await ask(engine, tokens, 16, start=state, sampling=WATCHED)
    for answer in below:
        answer.state.release()
    assert isinstance(fork, LlamaState)
    # Nothing freed is held any longer, and the two still share.
    await until(lambda: engine._scheduler.cells.used == fork.resident)
    for state, (tokens, first) in before.items():
        forks = [ask(engine, tokens, 16, start=state, sampling=WATCHED) for _ in range(3)]
        for answer in await asyncio.gather(*forks):
            assert answer.text == first.text and told(answer) == told(first)
            assert answer.done.evaluated == first.done.evaluated
    # What they share is shared in llama.cpp's memory, too: all the rest can be filled.
    room = engine.pool().cells - engine.pool().used
    assert (await ask(engine, list(range(1000, 1000 + room)), 1)).done.evaluated == room
    parent.release()
    fork.release()
    await until_empty(engine)
    await engine.stop()
