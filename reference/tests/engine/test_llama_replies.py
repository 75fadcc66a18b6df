"""FROM-6 on the real model: one history has one greedy reply, however the engine came to it."""

import asyncio

import pytest

from halogen_reference.engine.llama.engine import LlamaEngine
from halogen_reference.engine.protocol import State
from halogen_reference.reply import Finish
from tests.engine.asking import Answer, ask, prompt, spelled, turn

pytestmark = pytest.mark.asyncio(loop_scope="module")

OUT = 10
SEA = "Write a few sentences about the sea, the wind and the people who live by the shore."


async def kept(engine: LlamaEngine, out: int = OUT, stop: tuple[str, ...] = ()) -> Answer:
    return await ask(engine, prompt(engine, SEA), out, keep=True, stop=stop)


async def test_a_fork_is_a_cold_reply(engine: LlamaEngine) -> None:
    """And reads the new text only (FROM-7): the reply's last token was never evaluated."""
    state = (await kept(engine)).state
    tokens = [*state.tokens, *turn(engine, "Why?")]
    forked = await ask(engine, tokens, start=state)
    cold = await ask(engine, tokens)
    assert forked.text == cold.text != ""
    assert cold.done.evaluated == len(tokens)
    assert forked.done.evaluated == len(tokens) - len(state.tokens) + 1
    state.release()


async def test_a_branch_inside_is_a_cold_reply(engine: LlamaEngine) -> None:
    """BRANCH-1: at every token of the reply; greedy, it goes on as it did."""
    first = await kept(engine)
    state, before = first.state, len(prompt(engine, SEA))
    for inside in (1, 5, OUT - 1):
        tokens = state.tokens[: before + inside]
        branch = await ask(engine, tokens, OUT - inside, start=state, reuse=len(tokens))
        assert spelled(engine, tokens[before:]) + branch.text == first.text
        assert branch.done.evaluated == 1
    other = [*state.tokens[: before + 4], *engine.encode(" never", False)]
    branch = await ask(engine, other, start=state, reuse=before + 4)
    assert branch.text == (await ask(engine, other)).text
    assert branch.done.evaluated == 1
    state.release()


async def test_a_full_hit_is_a_cold_reply(engine: LlamaEngine) -> None:
    first = await kept(engine)
    tokens = prompt(engine, SEA)
    again = await ask(engine, tokens, start=first.state, reuse=len(tokens))
    assert again.text == first.text and again.done.evaluated == 1
    first.state.release()


async def test_eight_at_once_are_eight_alone(engine: LlamaEngine) -> None:
    """FROM-3: siblings in one batch do not see each other; the history is held once."""
    state = (await kept(engine)).state
    tails = [turn(engine, f"Tell me {n} things about {what}.") for n, what in enumerate(
        ["boats", "salt", "storms", "gulls", "tides", "nets", "sand", "light"], start=2
    )]  # fmt: skip
    jobs = [[*state.tokens, *tail] for tail in tails]
    together = await asyncio.gather(*(ask(engine, job, 6, start=state) for job in jobs))
    for job, answer in zip(jobs, together, strict=True):
        assert answer.text == (await ask(engine, job, 6)).text
        assert answer.done.evaluated == len(job) - len(state.tokens) + 1
    assert len({answer.text for answer in together}) > 1
    alone = await ask(engine, jobs[0], 6, start=state)
    assert alone.text == together[0].text, "the parent is as it was"
    state.release()


async def test_cold_requests_that_begin_alike_share_the_beginning(engine: LlamaEngine) -> None:
    """Together they read it once, and reply as they do alone."""
    tokens = prompt(engine, SEA)
    assert len(tokens) > 40
    jobs = [[*tokens, *engine.encode(word, False)] for word in ("The", "Waves", "People")]
    together = await asyncio.gather(*(ask(engine, job, 6) for job in jobs))
    assert sum(answer.done.evaluated for answer in together) < 2 * len(tokens)
    for job, answer in zip(jobs, together, strict=True):
        assert answer.text == (await ask(engine, job, 6)).text


async def test_a_reply_that_gave_way_is_the_same_reply(narrow: LlamaEngine) -> None:
    """Memory is short: the youngest is stopped, evaluated again and finished."""
    removed: list[object] = []
    remove = narrow._scheduler.remove

    def counting(reply: object) -> None:
        removed.append(reply)
        remove(reply)  # type: ignore[arg-type]

    jobs = [prompt(narrow, f"Tell me about {what}.") for what in ("ships", "salt", "storms")]
    out = (160 - sum(map(len, jobs))) // 3 + 12
    narrow._scheduler.remove = counting  # type: ignore[method-assign]
    try:
        together = await asyncio.gather(*(ask(narrow, job, out) for job in jobs))
    finally:
        narrow._scheduler.remove = remove  # type: ignore[method-assign]
    assert len(removed) > len(jobs), "nobody had to give way"
    for job, answer in zip(jobs, together, strict=True):
        assert answer.text == (await ask(narrow, job, out)).text
        assert answer.done.evaluated <= len(job)


async def follow(engine: LlamaEngine, state: State) -> None:
    """What is kept can be continued, and the continuation is the twin's (KEEP-2)."""
    tokens = [*state.tokens, *turn(engine, "And then?")]
    warm = await ask(engine, tokens, 6, start=state)
    assert warm.text == (await ask(engine, tokens, 6)).text
    state.release()


async def test_a_stop_string_cuts_the_reply(engine: LlamaEngine) -> None:
    """Inside a token as well: the state ends exactly where the text does."""
    whole = await ask(engine, prompt(engine, SEA), OUT)
    words = whole.text.split()
    stop = f"{words[2][-1]} {words[3][:2]}"
    cut = await kept(engine, stop=("no such text", stop))
    assert cut.text == whole.text[: whole.text.index(stop)]
    assert (cut.done.finish, cut.done.stop_string) == (Finish.STOP_STRING, stop)
    state = cut.state
    assert spelled(engine, state.tokens[len(prompt(engine, SEA)) :]) == cut.text
    await follow(engine, state)


async def test_a_stop_string_at_once_leaves_an_empty_reply(engine: LlamaEngine) -> None:
    first = (await ask(engine, prompt(engine, SEA), 1)).text
    cut = await kept(engine, stop=(first[0],))
    assert cut.text == "" and cut.state.tokens == tuple(prompt(engine, SEA))
    await follow(engine, cut.state)


async def test_no_tokens_at_all(engine: LlamaEngine) -> None:
    """``max_tokens: 0`` reads the prompt and keeps it."""
    tokens = prompt(engine, SEA)
    nothing = await ask(engine, tokens, 0, keep=True)
    assert (nothing.text, nothing.done.output) == ("", 0)
    assert nothing.done.finish is Finish.LENGTH and nothing.done.evaluated == len(tokens)
    assert nothing.state.tokens == tuple(tokens)
    await follow(engine, nothing.state)


async def test_the_limit(engine: LlamaEngine) -> None:
    limited = await kept(engine, 3)
    assert (limited.done.finish, limited.done.output) == (Finish.LENGTH, 3)
    assert len(limited.state.tokens) == len(prompt(engine, SEA)) + 3
    await follow(engine, limited.state)


async def test_the_end_of_the_turn(engine: LlamaEngine) -> None:
    """Not counted as output, and no part of what is kept."""
    tokens = [*prompt(engine, "Say yes."), *engine.encode("Yes.", False)]
    ended = await ask(engine, tokens, 40, keep=True)
    if ended.done.finish is not Finish.END_OF_TURN:
        pytest.skip("this model talks on")
    assert not any(map(engine._model.ends_turn, ended.state.tokens[len(tokens) :]))
    assert ended.done.output == len(ended.state.tokens) - len(tokens)
    await follow(engine, ended.state)
