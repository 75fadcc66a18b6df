"""The engine by itself: what a state is worth, and who gets memory."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from halogen_reference.call import Sampling
from halogen_reference.engine.protocol import Done, Job, QueueTimeout, StateRejected, Text
from halogen_reference.reply import Finish
from halogen_simulator.engine import Character, SimEngine, Size
from halogen_simulator.pace import SteadyPace
from halogen_simulator.places import Places
from halogen_simulator.pool import Cells
from halogen_simulator.state import SimState

OPEN = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
AGAIN = "<|im_end|>\n" + OPEN
SLOW = Character(pace=SteadyPace(0.001, 1))


def read(engine: SimEngine, text: str) -> list[int]:
    return list(engine.encode(text, True))


async def run(engine: SimEngine, job: Job) -> tuple[str, Done]:
    text = ""
    async for event in engine.submit(job):
        if isinstance(event, Text):
            text += event.text
        elif isinstance(event, Done):
            return text, event
    raise AssertionError("no end")


def job(tokens: Sequence[int], **how: object) -> Job:
    return replace(Job(tokens=tokens, max_tokens=200), **how)  # type: ignore[arg-type]


async def keep(engine: SimEngine, text: str = "Hello", **how: object) -> tuple[str, SimState]:
    said, done = await run(engine, job(read(engine, OPEN.format(text)), keep=True, **how))
    assert isinstance(done.state, SimState)
    return said, done.state


async def test_a_state_is_what_it_has_read_however_it_was_spelled() -> None:
    engine = SimEngine()
    said, state = await keep(engine)
    spelled_afresh = read(engine, OPEN.format("Hello")) + list(engine.encode(said, False))
    assert list(state.tokens) != spelled_afresh
    rest = read(engine, AGAIN.format("Why?"))
    from_state = job([*state.tokens, *rest], start=state, reuse=len(state.tokens))
    warm, done = await run(engine, from_state)
    cold, everything = await run(engine, job(spelled_afresh + rest))
    assert warm == cold
    assert done.evaluated == len(rest)
    assert everything.evaluated == len(spelled_afresh) + len(rest)


async def test_a_reply_is_made_of_the_state_and_not_of_the_request() -> None:
    """A server that hands over a wrong state gets a wrong reply."""
    engine = SimEngine()
    _, right = await keep(engine)
    _, wrong = await keep(engine, "Hullo")
    rest = read(engine, AGAIN.format("Why?"))
    tokens = [*right.tokens, *rest]
    said = [
        (await run(engine, job(tokens, start=state, reuse=min(len(state.tokens), 40))))[0]
        for state in (right, wrong)
    ]
    assert said[0] != said[1]


async def test_part_of_a_state_at_any_token() -> None:
    engine = SimEngine()
    _, state = await keep(engine)
    for reuse in range(len(state.tokens) + 1):
        tokens = state.tokens[: max(reuse, 1)]
        said, done = await run(engine, job(tokens, start=state, reuse=reuse))
        assert said == (await run(engine, job(tokens)))[0]
        # The last token is always evaluated: a full hit costs one (P06).
        assert done.evaluated == max(len(tokens) - reuse, 1)


@pytest.mark.parametrize(
    ("how", "finish"),
    [
        ({}, Finish.END_OF_TURN),
        ({"max_tokens": 5}, Finish.LENGTH),
        ({"max_tokens": 0}, Finish.LENGTH),
        ({"stop": ("e",)}, Finish.STOP_STRING),
    ],
)
async def test_a_state_ends_where_the_text_ends(how: dict[str, object], finish: Finish) -> None:
    engine = SimEngine()
    prompt = read(engine, OPEN.format("Hello"))
    said, done = await run(engine, job(prompt, keep=True, **how))
    assert done.finish is finish and isinstance(done.state, SimState)
    assert done.state.data == engine.vocabulary_of.marked(prompt) + said.encode()
    assert engine.vocabulary_of.marked(done.state.tokens) == done.state.data
    assert engine.pool().used == done.state.resident


async def test_a_limit_inside_a_character_says_whole_ones_only() -> None:
    engine = SimEngine()
    prompt = [*read(engine, OPEN.format("Hello")), *engine.encode("🎉🎊", False)]
    for limit in range(1, 9):
        said, done = await run(engine, job(prompt, max_tokens=limit, keep=True))
        assert len(said) == limit // 4 and isinstance(done.state, SimState)
        assert done.state.data == engine.vocabulary_of.marked(prompt) + said.encode()


async def test_log_probabilities_do_not_change_the_text() -> None:
    engine = SimEngine()
    prompt = read(engine, OPEN.format("Hello"))
    plain, _ = await run(engine, job(prompt))
    seen: list[str] = []
    async for event in engine.submit(job(prompt, sampling=Sampling(logprobs=2))):
        if isinstance(event, Text):
            seen += [event.text]
            assert all(len(one.top) == 2 for one in event.logprobs)
    assert "".join(seen) == plain


async def test_another_model_says_other_things_and_takes_no_foreign_state() -> None:
    one, other = SimEngine(), SimEngine(character=Character(seed=1))
    assert (await keep(one))[0] != (await keep(other))[0]
    assert one.fingerprint != other.fingerprint
    assert SimEngine(Size(context=4096)).fingerprint != one.fingerprint


async def test_export_and_restore() -> None:
    engine = SimEngine()
    _, state = await keep(engine)
    data = await engine.export(state)
    restored = await engine.restore(state.tokens, data)
    assert isinstance(restored, SimState)
    assert (restored.tokens, restored.data) == (state.tokens, state.data)
    for wrong in (b"", data[:-1], data[:8] + b"\0" * 8 + data[16:], data.replace(b"H", b"J")):
        with pytest.raises(StateRejected):
            await engine.restore(state.tokens, wrong)
    with pytest.raises(StateRejected):
        await engine.restore([10**9], data)


async def test_forks_hold_their_common_part_once() -> None:
    engine = SimEngine()
    _, state = await keep(engine)
    held = engine.pool().used
    rest = read(engine, AGAIN.format("Why?"))
    forks = [
        await run(
            engine,
            job(
                [*state.tokens, *rest],
                start=state,
                reuse=len(state.tokens),
                max_tokens=3,
                keep=True,
            ),
        )
        for _ in range(4)
    ]
    own = sum(
        done.state.resident - state.resident
        for _, done in forks
        if isinstance(done.state, SimState)
    )
    assert engine.pool().used == held + own
    assert engine.pool().shared == held
    for _, done in forks:
        assert done.state is not None
        done.state.release()
    state.release()
    assert engine.pool().used == 0 and not engine.ledger.states


async def test_kept_states_go_when_memory_is_needed() -> None:
    engine = SimEngine(Size(context=128, pool=128))
    kept = [(await keep(engine, max_tokens=20))[1] for _ in range(2)]

    def release_one() -> bool:
        if kept:
            kept.pop(0).release()
            return True
        return False

    engine.on_pressure(release_one)
    long = job(read(engine, OPEN.format("word " * 80)))
    await run(engine, replace(long, max_tokens=5))
    assert len(kept) == 1, "no more go than must"
    # Two at once: letting a state go lets in whoever waits, in the middle of letting one in.
    assert all(
        done.output for _, done in await asyncio.gather(run(engine, long), run(engine, long))
    )
    assert kept == [] and engine.pool().used == 0


async def test_the_youngest_lends_its_cells_and_says_the_same() -> None:
    """More is running than there is room for: all end, the oldest first, with the right words."""
    engine = SimEngine(Size(context=100, pool=100), SLOW)
    prompts = [read(engine, OPEN.format(text)) for text in ("One.", "Two.", "Three.")]
    counting = [[*prompt, *engine.encode("1, 2, 3,", False)] for prompt in prompts]
    alone = [await run(engine, job(prompt, max_tokens=60)) for prompt in counting]
    most, order = 0, list[int]()

    async def one(number: int) -> str:
        nonlocal most
        text = ""
        async for event in engine.submit(job(counting[number], max_tokens=60)):
            most = max(most, engine.pool().used)
            text += event.text if isinstance(event, Text) else ""
        order.append(number)
        return text

    together = await asyncio.gather(*map(one, range(3)))
    assert together == [text for text, _ in alone]
    assert order == [0, 1, 2]
    assert 80 < most <= 100 and engine.pool().used == 0


@pytest.mark.parametrize("words", range(8, 24, 3))
async def test_a_reply_that_ends_while_its_cells_are_lent_is_kept_whole(words: int) -> None:
    character = Character(reply_words=words, pace=SteadyPace(0.0005, 1))
    engine = SimEngine(Size(context=60, pool=60), character)
    prompt = read(engine, OPEN.format("Hello"))
    counting = [*prompt, *engine.encode("1, 2, 3,", False)]
    older = asyncio.ensure_future(run(engine, job(counting, max_tokens=25)))
    said, done = await run(engine, job(prompt, max_tokens=40, keep=True))
    await older
    assert isinstance(done.state, SimState)
    assert done.state.data == engine.vocabulary_of.marked(prompt) + said.encode()
    assert engine.pool().used == done.state.resident


async def test_the_queue_has_an_end() -> None:
    engine = SimEngine(Size(slots=1, queue_timeout=0.01), Character(pace=SteadyPace(0.05, 1)))
    prompt = read(engine, OPEN.format("Hello"))
    first = asyncio.ensure_future(run(engine, job(prompt, max_tokens=3)))
    await asyncio.sleep(0)
    with pytest.raises(QueueTimeout):
        await run(engine, job(prompt))
    await first
    assert engine.pool().running == engine.pool().waiting == 0


async def test_leaving_at_any_moment_gives_everything_back() -> None:
    engine = SimEngine(Size(slots=1), SLOW)
    prompt = read(engine, OPEN.format("Hello"))
    for events in range(4):
        running = engine.submit(job(prompt, keep=True))
        for _ in range(events):
            await anext(running)
        waiting = asyncio.ensure_future(run(engine, job(prompt)))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        await running.aclose()
        assert (engine.pool().used, engine.pool().running, engine.pool().waiting) == (0, 0, 0)


async def test_leaving_in_the_moment_of_entering_gives_the_place_back() -> None:
    places = Places(Cells(100), slots=1, patience=5)
    first = await places.enter(10, None, 0)
    second = asyncio.ensure_future(places.enter(10, None, 0))
    await asyncio.sleep(0)
    places.leave(first)
    second.cancel()
    await asyncio.wait([second])
    assert second.cancelled() and places.running == [] and places.cells.used == 0
