"""The simulated machine takes the time its profile says, batch by batch."""

import asyncio
from itertools import pairwise

import pytest

from halogen_simulator.machine import Machine
from halogen_simulator.profile import Profile
from tests.virtual_time import run

COSTS = Profile("c", "", ((64, 100.0), (252, 200.0)), 0.010, 0.002, 1)
ALONE, BESIDE = 252 / 200, 64 / 100


async def reply(machine: Machine, prompt: int, tokens: int, after: float = 0.0) -> list[float]:
    """When each of its tokens is there."""
    await asyncio.sleep(after)
    seat, times = machine.seat(), list[float]()
    try:
        await seat.read(prompt, tokens)
        for _ in range(tokens):
            await seat.step()
            times.append(asyncio.get_running_loop().time())
    finally:
        seat.leave()
    return times


def together(*replies: tuple[int, int, float]) -> list[list[float]]:
    async def all_of() -> list[list[float]]:
        machine = Machine(COSTS)
        return await asyncio.gather(*(reply(machine, *one) for one in replies))

    return run(all_of())


def test_a_reply_alone() -> None:
    (times,) = together((252 + 64, 3, 0))
    first = ALONE + BESIDE
    assert times == pytest.approx([first, first + 0.012, first + 0.024])


def test_short_prompts_share_a_batch() -> None:
    times = together(*[(30, 1, 0)] * 8)
    assert times == [[pytest.approx(COSTS.read_s(240))]] * 8


def test_replies_share_their_batches() -> None:
    one, other = together((64, 3, 0), (64, 3, 0))
    first = COSTS.read_s(128)
    assert one == other == pytest.approx([first, first + 0.014, first + 0.028])


def test_a_prompt_is_read_beside_a_reply() -> None:
    """From the batch after the one that runs when it comes, at the smaller chunk."""
    one, other = together((64, 9, 0), (128, 2, BESIDE + 0.006))
    slow = 0.012 + BESIDE
    gaps = [later - earlier for earlier, later in pairwise(one)]
    assert gaps[:4] == pytest.approx([0.012, slow, slow, 0.014])
    assert other[0] == pytest.approx(BESIDE + 0.012 + 2 * slow)


def test_who_leaves_takes_no_more_time() -> None:
    async def leaving() -> float:
        machine = Machine(COSTS)
        gone = asyncio.ensure_future(reply(machine, 64, 1000))
        await asyncio.sleep(BESIDE + 0.001)
        gone.cancel()
        began = asyncio.get_running_loop().time()
        (first,) = await reply(machine, 64, 1)
        assert machine.seat().unread == 0
        return first - began

    # What is left of the batch that was running, and its own.
    assert run(leaving()) == pytest.approx(0.011 + BESIDE)


def test_nobody_waits_for_a_slow_client() -> None:
    async def slow() -> float:
        machine = Machine(COSTS)
        seat = machine.seat()
        await seat.read(64, 10)
        await asyncio.sleep(1.0)
        for _ in range(10):
            await seat.step()
        return asyncio.get_running_loop().time()

    assert run(slow()) == pytest.approx(BESIDE + 1.0)


def test_a_reply_that_has_all_its_tokens_takes_no_part() -> None:
    """Even while its client has not fetched them: the engine is done with it."""

    async def beside_one() -> list[float]:
        machine = Machine(COSTS)
        done = machine.seat()
        await done.read(64, 1)
        return await reply(machine, 64, 3)

    times = run(beside_one())
    assert times == pytest.approx([2 * BESIDE, 2 * BESIDE + 0.012, 2 * BESIDE + 0.024])
