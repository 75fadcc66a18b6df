"""FROM-6 on a server in use: what was released before leaves no trace in a reply."""

import asyncio

import pytest

from halogen_reference.call import Sampling
from halogen_reference.engine.llama.engine import LlamaEngine
from tests.engine.asking import Answer, ask, prompt, turn

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
