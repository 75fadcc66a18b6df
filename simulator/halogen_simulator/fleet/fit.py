"""A cost profile measured on a running server, from outside, over HTTP.

What programs with sessions do is measured: a new prompt is read from its first token on, everything
else goes on from one kept conversation. Decoding is timed while every reply is being decoded and no
prompt is being read; all replies are made to go on for long. Run it on an otherwise idle server.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import numpy as np

from halogen_simulator.fleet.probe import Kept, Probe
from halogen_simulator.fleet.target import connected, lost
from halogen_simulator.profile import Profile, ProfileError

_SHORT, _LONGER = 20, 120
"""Words of two prompts that tell how many tokens a word has."""
_BATCHES = (1, 2, 4, 8)
_CHUNKS = 6
"""Chunks of the text that is read beside a reply, about."""
_LONGEST = 1024
"""Tokens of the reply beside it, which is not waited for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    tokens: int = 32
    """Tokens of each reply whose pace is measured, at least 8."""
    repeats: int = 3
    depth: int = 1000
    """Tokens of the conversations, about: the longer they are, the slower is decoding."""
    chunk_alone: int = 252
    """Prompt tokens in the server's batches when nothing is decoded."""
    chunk_beside: int = 64
    """And when something is."""


def measure(url: str, key: str | None, name: str, about: str, plan: Plan) -> Profile:
    """Measure the server at ``url``. Raises ProfileError when it cannot be measured, TargetLost
    when it is not there or wants another key, ValueError for another thing than an address."""
    if plan.tokens < 8 or plan.repeats < 1:
        raise ProfileError("measure at least 8 tokens a reply, and at least once")
    if plan.depth < 2 * plan.chunk_alone:
        raise ProfileError(f"measure at a depth of at least {2 * plan.chunk_alone} tokens")
    try:
        return asyncio.run(_measure(url, key, name, about, plan))
    except httpx.HTTPError as error:
        raise lost(url, error) from None


async def _measure(url: str, key: str | None, name: str, about: str, plan: Plan) -> Profile:
    async with connected(url, key, timeout_s=600) as client:
        return await fitted(client, name, about, plan)


async def fitted(client: httpx.AsyncClient, name: str, about: str, plan: Plan) -> Profile:
    """The profile of the server a client talks to. Raises ProfileError, TargetLost,
    httpx.HTTPError."""
    probe = Probe(client)
    words = await _words(probe, plan.depth)
    alone = await _fastest(plan.repeats, lambda: _alone(probe, words))
    kept = await probe.keep(words)
    small = [await probe.read(0, kept) for _ in range(plan.repeats)]
    paces = {
        batch: 1 / await _fastest(plan.repeats, partial(_decoding, probe, kept, batch, plan.tokens))
        for batch in _BATCHES
    }
    beside = await _fastest(plan.repeats, lambda: _beside(probe, kept, plan, paces[1]))
    step, row = line(paces)
    return Profile(
        name=name,
        about=about,
        prefill=_rising(
            {
                small[0].evaluated: max(one.evaluated / one.ttft for one in small),
                plan.chunk_beside: beside,
                plan.chunk_alone: alone,
            }
        ),
        step_s=round(step, 6),
        row_s=round(row, 6),
        bytes_per_token=kept.token_bytes,
        chunk_alone=plan.chunk_alone,
        chunk_beside=plan.chunk_beside,
        depth=kept.tokens,
    )


def _rising(speeds: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    """A chunk is not read slower than a smaller one: where that was seen, it was the noise."""
    chunks = sorted(speeds)
    return tuple(
        (chunk, round(min(speeds[larger] for larger in chunks[at:]), 1))
        for at, chunk in enumerate(chunks)
    )


def line(paces: Mapping[int, float]) -> tuple[float, float]:
    """(step, row) of the line through the paces of batches, neither below 0, in seconds.

    What counts is by how many parts of a pace the line is off: a slow batch has no more say than a
    quick one.
    """
    batches = np.array(list(paces), dtype=float)
    seconds = np.array(list(paces.values()))
    row, step = (float(value) for value in np.polyfit(batches, seconds, 1, w=1 / seconds))
    share = batches / seconds
    if step < 0:  # the best line through nought
        return 0.0, float(share.sum() / (share**2).sum())
    if row < 0:  # the best constant
        return float((1 / seconds).sum() / (1 / seconds**2).sum()), 0.0
    return step, row


async def _fastest(repeats: int, speed: Callable[[], Coroutine[Any, Any, float]]) -> float:
    """What disturbs a measurement only ever makes it slower."""
    return max([await speed() for _ in range(repeats)])


async def _words(probe: Probe, depth: int) -> int:
    """Words of a prompt of about ``depth`` tokens. The first request of a server is slower than any
    other: these are not timed."""
    short, longer = await probe.read(_SHORT), await probe.read(_LONGER)
    a_word = (longer.prompt - short.prompt) / (_LONGER - _SHORT)
    if a_word <= 0:
        raise ProfileError("the server's usage does not tell how many tokens a prompt has")
    return _SHORT + max(round((depth - short.prompt) / a_word), 0)


async def _alone(probe: Probe, words: int) -> float:
    """Tokens/s of reading a new prompt when nothing else happens."""
    prompt = await probe.read(words)
    return _speed(prompt.evaluated, prompt.ttft)


async def _decoding(probe: Probe, kept: Kept, batch: int, tokens: int) -> float:
    """Tokens/s of a reply while ``batch`` replies are being decoded."""
    streams = await asyncio.gather(*(probe.count(kept, tokens) for _ in range(batch)))
    start = max(stream.pieces[0] for stream in streams)
    end = min(stream.pieces[-1] for stream in streams)
    came = sum(stream.tokens(start, end) for stream in streams)
    if came < batch * tokens / 4:
        raise ProfileError(
            f"{batch} replies of {tokens} tokens were hardly decoded together: "
            "measure more --tokens, with places for 8 replies at once on the server"
        )
    return came / batch / (end - start)


async def _beside(probe: Probe, kept: Kept, plan: Plan, pace: float) -> float:
    """Tokens/s of reading beside one reply, that reply's own share of the time left out: new text
    of a conversation, as long as some chunks."""
    begun = asyncio.Event()
    decoding = asyncio.create_task(probe.count(kept, _LONGEST, begun))
    try:
        waiting = asyncio.create_task(begun.wait())
        await asyncio.wait([decoding, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        prompt = await probe.read(_CHUNKS * plan.chunk_beside, kept)
        if decoding.done():
            decoding.result()
            raise ProfileError("a reply ended while a prompt was read beside it: measure again")
    finally:
        decoding.cancel()
        await asyncio.gather(decoding, return_exceptions=True)
    chunks = math.ceil(prompt.evaluated / plan.chunk_beside)
    return _speed(prompt.evaluated, prompt.ttft - chunks * pace)


def _speed(tokens: int, seconds: float) -> float:
    if seconds <= 0 or tokens <= 0:
        raise ProfileError("the server answers too unevenly to be measured: is it idle otherwise?")
    return tokens / seconds
