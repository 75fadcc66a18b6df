"""A cost profile measured on a running server, from outside, over HTTP.

Each figure comes from the difference of two measurements, so that what a request costs besides its
tokens falls out. Run it on an otherwise idle server.
"""

import asyncio
import itertools
import statistics
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import numpy as np

from halogen_simulator.profile import Profile, ProfileError

_SHORT, _LONG = 150, 750
"""Words of the two prompts."""
_WORDS = ("river", "stone", "light", "winter", "garden", "silver", "morning", "letter", "window")
_TASK = "Count from one to one hundred in words: one, two, three, and so on."
_BATCHES = (1, 2, 4, 8)
_ATTEMPTS = 5
"""A small model now and then has nothing to say."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    tokens: int = 32
    """Tokens of each reply whose pace is measured, at least 8."""
    repeats: int = 3
    chunk_alone: int = 252
    """Prompt tokens in the server's batches when nothing is decoded."""
    chunk_beside: int = 64
    """And when something is."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One streamed reply: when it was sent, and when each piece of its text came."""

    sent: float
    pieces: tuple[float, ...]
    prompt: int

    @property
    def ttft(self) -> float:
        return self.pieces[0] - self.sent


def measure(url: str, key: str | None, name: str, about: str, plan: Plan) -> Profile:
    """Measure the server at ``url``. Raises ProfileError when it cannot be measured."""
    if plan.tokens < 8 or plan.repeats < 1:
        raise ProfileError("measure at least 8 tokens a reply, and at least once")
    try:
        return asyncio.run(_measure(url, key, name, about, plan))
    except httpx.HTTPError as error:
        raise ProfileError(
            f"{url} cannot be measured ({str(error) or type(error).__name__})"
        ) from None


async def _measure(url: str, key: str | None, name: str, about: str, plan: Plan) -> Profile:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=600) as client:
        server = _Server(client)
        await server.stream(_SHORT, 8)  # the first request of a server is slower than any other
        alone = await _median(plan.repeats, lambda: _alone(server))
        paces = {}
        for batch in _BATCHES:
            paces[batch] = await _median(plan.repeats, partial(_pace, server, batch, plan))
        row, step = (float(value) for value in np.polyfit(list(paces), list(paces.values()), 1))
        beside = await _median(plan.repeats, lambda: _beside(server, plan, paces[1]))
        size = await server.bytes_per_token()
    speeds = {plan.chunk_beside: min(beside, alone), plan.chunk_alone: alone}
    return Profile(
        name=name,
        about=about,
        prefill=tuple((chunk, round(speed, 1)) for chunk, speed in sorted(speeds.items())),
        # A fit may go below what time can do; then all of it is in the other term.
        step_s=round(max(step, 0.0), 6),
        row_s=round(max(row, 0.0), 6),
        bytes_per_token=size,
        chunk_alone=plan.chunk_alone,
        chunk_beside=plan.chunk_beside,
    )


async def _median(repeats: int, figure: Callable[[], Coroutine[Any, Any, float]]) -> float:
    return statistics.median([await figure() for _ in range(repeats)])


async def _alone(server: "_Server") -> float:
    """Tokens/s of reading a prompt when nothing else happens."""
    short, long = await server.stream(_SHORT, 8), await server.stream(_LONG, 8)
    return _speed(long.prompt - short.prompt, long.ttft - short.ttft)


async def _pace(server: "_Server", batch: int, plan: Plan) -> float:
    """Seconds between two tokens of a reply while ``batch`` replies are being decoded."""
    streams = await asyncio.gather(*(server.stream(8, plan.tokens) for _ in range(batch)))
    start = max(stream.pieces[0] for stream in streams)
    end = min(stream.pieces[-1] for stream in streams)
    came = sum(start < at <= end for stream in streams for at in stream.pieces)
    if not came:
        raise ProfileError("replies ended before they overlapped: measure more --tokens")
    return (end - start) * batch / came


async def _beside(server: "_Server", plan: Plan, pace: float) -> float:
    """Tokens/s of reading a chunk beside one reply, that reply's own share of the time left out."""
    decoding = asyncio.create_task(server.stream(8, 4096))
    try:
        await server.decoding.wait()
        prompt = await server.stream(_LONG, 8)
    finally:
        decoding.cancel()
        await asyncio.gather(decoding, return_exceptions=True)
    chunks = prompt.prompt / plan.chunk_beside
    return _speed(prompt.prompt, prompt.ttft - chunks * pace)


def _speed(tokens: int, seconds: float) -> float:
    if seconds <= 0:
        raise ProfileError("the server answers too unevenly to be measured: is it idle otherwise?")
    return tokens / seconds


class _Server:
    """Streams of a server. No two prompts begin alike, so that nothing can be reused."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._numbers = itertools.count(time.time_ns() % 10**9)
        self.decoding = asyncio.Event()
        """A reply of the newest stream has begun."""

    async def stream(self, words: int, tokens: int) -> Stream:
        """One streamed reply, not empty, to a prompt of so many words."""
        for _ in range(_ATTEMPTS):
            stream = await self._stream(words, tokens)
            if stream.pieces:
                return stream
        raise ProfileError("the server's replies are empty, which have no pace to measure")

    async def _stream(self, words: int, tokens: int) -> Stream:
        self.decoding.clear()
        sent, pieces, prompt = time.perf_counter(), [], 0
        async with self._client.stream(
            "POST", "/v1/chat/completions", json=self._body(words, tokens, stream=True)
        ) as answer:
            await self._check(answer)
            async for line in answer.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                event = httpx.Response(200, text=line[6:]).json()
                if event.get("usage"):
                    prompt = event["usage"]["prompt_tokens"]
                if any(choice["delta"].get("content") for choice in event.get("choices", [])):
                    pieces.append(time.perf_counter())
                    self.decoding.set()
        return Stream(sent, tuple(pieces), prompt)

    async def bytes_per_token(self) -> int:
        """Memory of a kept conversation, as the server's list tells it."""
        name = f"fit-{next(self._numbers)}"
        answer = await self._client.post(
            "/v1/chat/completions",
            json=self._body(_SHORT, 8, stream=False),
            headers={"X-Halogen-Keep": name},
        )
        await self._check(answer)
        listed = await self._client.get("/halogen/handles")
        entries = listed.json()["data"] if listed.is_success else []
        for entry in entries:
            if entry["name"] == name:
                return int(entry["bytes"] // entry["tokens"])
        raise ProfileError("the server keeps no names: start it with HALOGEN_FORK=1")

    def _body(self, words: int, tokens: int, *, stream: bool) -> dict[str, Any]:
        number = next(self._numbers)
        text = " ".join(_WORDS[(number + index) % len(_WORDS)] for index in range(words))
        body: dict[str, Any] = {
            "model": "any",
            "max_tokens": tokens,
            "temperature": 0,
            "messages": [{"role": "user", "content": f"{number}: {text}. {_TASK}"}],
        }
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    @staticmethod
    async def _check(answer: httpx.Response) -> None:
        if answer.is_error:
            await answer.aread()
            raise ProfileError(f"the server answered {answer.status_code}: {answer.text[:200]}")
