"""Requests that leave, wait too long or fail, on the real model: nobody else notices."""

import asyncio
from contextlib import aclosing

import pytest

from halogen_reference.engine.llama.context import Context, DecodeFailed
from halogen_reference.engine.llama.engine import LlamaEngine
from halogen_reference.engine.protocol import EngineFailed, Job, QueueTimeout, Started, Text
from tests.engine.asking import GREEDY, ask, make_engine, prompt, turn, until_empty

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_one_that_leaves_takes_nobody_along(engine: LlamaEngine) -> None:
    """KEEP-5: its cells are free, the other's text is the same."""
    stay, leave = prompt(engine, "Tell me about tea."), prompt(engine, "Tell me about rain.")
    alone = await ask(engine, stay, 12)
    staying = asyncio.create_task(ask(engine, stay, 12))
    async with aclosing(engine.submit(Job(leave, sampling=GREEDY, max_tokens=500))) as events:
        async for event in events:
            if isinstance(event, Text):
                break
    assert (await staying).text == alone.text
    await until_empty(engine)


async def test_one_that_leaves_the_queue_is_forgotten(narrow: LlamaEngine) -> None:
    first = asyncio.create_task(ask(narrow, prompt(narrow, "word " * 90), 4))
    waiting = asyncio.create_task(ask(narrow, prompt(narrow, "other " * 80), 4))
    async with asyncio.timeout(30):
        while not narrow.pool().waiting:
            await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await first).text
    await until_empty(narrow)


async def test_waiting_too_long(narrow: LlamaEngine) -> None:
    """It never started; what holds the place goes on."""
    large = prompt(narrow, "word " * 60)
    async with aclosing(narrow.submit(Job(large, sampling=GREEDY, max_tokens=60))) as events:
        assert isinstance(await anext(events), Started)
        with pytest.raises(QueueTimeout):
            await ask(narrow, prompt(narrow, "word " * 90), 4)
        assert isinstance(await anext(events), Text)
    await until_empty(narrow)


async def test_a_failed_batch(engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails those in it with a message of their own; states and later requests are as before."""
    kept = await ask(engine, prompt(engine, "Who are you?"), 4, keep=True)
    state = kept.state
    tokens = [*state.tokens, *turn(engine, "Really?")]
    expected = await ask(engine, tokens, 6)

    def fail(*_: object) -> list[int]:
        monkeypatch.undo()
        raise DecodeFailed("llama_decode returned 1")

    monkeypatch.setattr(Context, "decode", fail)
    both = await asyncio.gather(
        ask(engine, tokens, 6, start=state, keep=True),
        ask(engine, prompt(engine, "Hello!"), 6),
        return_exceptions=True,
    )
    assert [type(answer) for answer in both] == [EngineFailed, EngineFailed]
    assert engine.pool().used <= len(state.tokens) + 1
    assert (await ask(engine, tokens, 6, start=state)).text == expected.text
    state.release()
    await until_empty(engine)


async def test_a_failure_later_leaves_the_others(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that waits in the queue while a batch fails is answered."""
    calls = 0
    decode = Context.decode

    def third(self: Context, rows: object) -> list[int]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise DecodeFailed("llama_decode returned 1")
        return decode(self, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(Context, "decode", third)
    with pytest.raises(EngineFailed, match="the model failed on this request"):
        await ask(engine, prompt(engine, "Hello!"), 12)
    assert (await ask(engine, prompt(engine, "Hello!"), 4)).text
    await until_empty(engine)


async def test_a_state_outlives_its_name(engine: LlamaEngine) -> None:
    """LIFE-6: released while the request that starts from it has only just been submitted."""
    state = (await ask(engine, prompt(engine, "Who are you?"), 4, keep=True)).state
    tokens = [*state.tokens, *turn(engine, "Why?")]
    expected = (await ask(engine, tokens, 4)).text
    fork = asyncio.create_task(ask(engine, tokens, 4, start=state))
    await asyncio.sleep(0)
    state.release()
    assert (await fork).text == expected
    await until_empty(engine)


async def test_kept_states_give_way_to_requests(narrow: LlamaEngine) -> None:
    """And are told so one by one, until there is room."""
    states = [
        (await ask(narrow, prompt(narrow, text), 2, keep=True)).state for text in ("One.", "Two.")
    ]

    def release_one() -> bool:
        if states:
            states.pop(0).release()
            return True
        return False

    narrow.on_pressure(release_one)
    assert (await ask(narrow, prompt(narrow, "word " * 90), 4)).text
    assert len(states) < 2
    while release_one():
        pass
    await until_empty(narrow)


async def test_memory_of_released_states_is_free_when_nothing_runs(engine: LlamaEngine) -> None:
    """What ``/metrics`` says of memory is true of an idle server too."""
    state = (await ask(engine, prompt(engine, "Who are you?"), 4, keep=True)).state
    async with asyncio.timeout(30):
        while engine._work.is_set():
            await asyncio.sleep(0)
    assert engine.pool().used == len(state.tokens) - 1
    state.release()
    await until_empty(engine)


async def test_stopping_ends_every_reply() -> None:
    """With a message, not with silence."""
    engine = make_engine(context=256, pool=256, slots=1)
    await engine.start()
    running = asyncio.create_task(ask(engine, prompt(engine, "Tell me a story."), 200))
    waiting = asyncio.create_task(ask(engine, prompt(engine, "Tell me another."), 200))
    async with asyncio.timeout(30):
        while not engine.pool().running:
            await asyncio.sleep(0)
    await engine.stop()
    for task in (running, waiting):
        with pytest.raises(EngineFailed, match="the server is stopping"):
            await task
