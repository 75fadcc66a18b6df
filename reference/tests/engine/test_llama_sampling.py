"""How tokens are chosen, on the real model."""

import math

import pytest

from halogen_reference.call import Sampling
from halogen_reference.engine.llama.engine import LlamaEngine
from tests.engine.asking import GREEDY, ask, prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASK = "Name a colour."


@pytest.mark.parametrize("count", [0, 1, 5, 20])
async def test_log_probabilities(engine: LlamaEngine, count: int) -> None:
    tokens = prompt(engine, ASK)
    answer = await ask(engine, tokens, 6, sampling=Sampling(temperature=0, logprobs=count))
    assert answer.text == (await ask(engine, tokens, 6, sampling=GREEDY)).text
    assert len(answer.logprobs) == answer.done.output
    assert b"".join(entry.chosen.bytes for entry in answer.logprobs).decode() == answer.text
    for entry in answer.logprobs:
        values = [candidate.logprob for candidate in entry.top]
        assert len(values) == count and values == sorted(values, reverse=True)
        assert entry.chosen.logprob <= 0
        assert sum(map(math.exp, values)) <= 1.001
        if count:
            assert entry.top[0] == entry.chosen, "greedy takes the most likely"


async def test_no_log_probabilities_unless_asked(engine: LlamaEngine) -> None:
    assert (await ask(engine, prompt(engine, ASK), 3)).logprobs == []


async def test_a_bias_forces_a_token(engine: LlamaEngine) -> None:
    """It changes what is chosen, not the probabilities the model gave."""
    (token,) = engine.encode(" sea", False)
    forced = Sampling(temperature=0, logit_bias=((token, 100.0),), logprobs=1)
    answer = await ask(engine, prompt(engine, ASK), 3, sampling=forced)
    assert answer.text == " sea sea sea"
    assert answer.logprobs[0].chosen.logprob < answer.logprobs[0].top[0].logprob


async def test_a_bias_bans_a_token(engine: LlamaEngine) -> None:
    tokens = prompt(engine, ASK)
    free = await ask(engine, tokens, 1)
    (first,) = engine.encode(free.text, False)
    banned = Sampling(temperature=0, logit_bias=((first, -100.0),))
    assert (await ask(engine, tokens, 1, sampling=banned)).text != free.text


async def test_a_seed_is_reproducible(engine: LlamaEngine) -> None:
    tokens = prompt(engine, ASK)

    async def drawn(seed: int | None) -> str:
        sampling = Sampling(temperature=1.5, seed=seed)
        return (await ask(engine, tokens, 5, sampling=sampling)).text

    assert await drawn(7) == await drawn(7)
    assert len({await drawn(seed) for seed in (1, 2, 3)}) > 1
    assert len({await drawn(None) for _ in range(2)}) > 1, "without one, each draws its own"


@pytest.mark.parametrize("sampling", [Sampling(top_k=1), Sampling(top_p=1e-6), Sampling(min_p=1.0)])
async def test_only_the_most_likely_is_left(engine: LlamaEngine, sampling: Sampling) -> None:
    tokens = prompt(engine, ASK)
    greedy = await ask(engine, tokens, 5)
    assert (await ask(engine, tokens, 5, sampling=sampling)).text == greedy.text


async def test_penalties_count_what_was_generated(engine: LlamaEngine) -> None:
    """And not the prompt: a token that is only there is as likely as before."""
    (token,) = engine.encode(" sea", False)
    tokens = [*prompt(engine, ASK), token, token, token]
    bias = ((token, 60.0),)
    punished = Sampling(temperature=0, logit_bias=bias, presence_penalty=200.0)
    answer = await ask(engine, tokens, 2, sampling=punished)
    assert answer.text.startswith(" sea") and not answer.text.startswith(" sea sea")
