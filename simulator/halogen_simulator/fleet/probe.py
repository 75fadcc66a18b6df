"""A client that measures: streamed replies of a running server, and when their tokens came."""

import asyncio
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from halogen_simulator.fleet.target import told
from halogen_simulator.profile import ProfileError

Messages = tuple[dict[str, str], ...]

_WORDS = ("river", "stone", "light", "winter", "garden", "silver", "morning", "letter", "window")
_TASK = "Count from one to one hundred."
_COUNT = "1, 2, 3, 4, 5, 6, 7, 8,"
"""What every reply is begun with: small models say little or nothing, but count for long."""


@dataclass(slots=True)
class Stream:
    """One streamed reply: when it was sent, and when each piece of its text came (s)."""

    sent: float
    pieces: list[float] = field(default_factory=list)
    text: str = ""
    prompt: int = 0
    cached: int = 0
    output: int = 0

    @property
    def ttft(self) -> float:
        return self.pieces[0] - self.sent

    @property
    def evaluated(self) -> int:
        """Prompt tokens that were read."""
        return self.prompt - self.cached

    def tokens(self, after: float, until: float) -> float:
        """Tokens that came in a stretch of time, where some pieces have several."""
        came = sum(after < at <= until for at in self.pieces)
        return came * max(self.output / len(self.pieces), 1.0)


@dataclass(frozen=True, slots=True)
class Kept:
    """A conversation the server holds, by its name."""

    name: str
    history: Messages
    tokens: int
    token_bytes: int


class Probe:
    """Requests of one server. No two prompts begin alike, so that nothing is reused by chance."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._numbers = itertools.count(time.time_ns() % 10**9)

    async def read(self, words: int, kept: Kept | None = None) -> Stream:
        """The first token after so many words, which begin a conversation or go on with one."""
        asked = (self._message(words),)
        if kept is None:
            return await self._stream(asked, 1)
        return await self._stream((*kept.history, *asked), 1, start=kept.name)

    async def keep(self, words: int) -> Kept:
        """A conversation of so many words, kept. Raises TargetLost, and ProfileError where that is
        not possible."""
        name = f"fit-{next(self._numbers)}"
        asked = (self._message(words),)
        stream = await self._stream(asked, 8, keep=name)
        answer = await self._client.get("/halogen/handles")
        if answer.is_error and answer.status_code != 404:
            raise ProfileError(told(answer))
        entries = answer.json()["data"] if answer.is_success else []
        for entry in entries:
            if entry["name"] == name:
                reply = {"role": "assistant", "content": _COUNT + stream.text}
                count = int(entry["tokens"])
                return Kept(name, (*asked, reply), count, int(entry["bytes"]) // max(count, 1))
        raise ProfileError("the server keeps no names: start it with HALOGEN_FORK=1")

    async def count(self, kept: Kept, tokens: int, begun: asyncio.Event | None = None) -> Stream:
        """A reply of so many tokens that goes on from a kept conversation. ``begun`` is set when
        its first token is there."""
        messages = (*kept.history, self._message(0))
        return await self._stream(messages, tokens, start=kept.name, begun=begun)

    def _message(self, words: int) -> dict[str, str]:
        number = next(self._numbers)
        text = " ".join(_WORDS[(number + index) % len(_WORDS)] for index in range(words))
        return {"role": "user", "content": f"{number}: {_TASK} {text}".strip()}

    async def _stream(
        self,
        messages: Sequence[dict[str, str]],
        tokens: int,
        *,
        keep: str | None = None,
        start: str | None = None,
        begun: asyncio.Event | None = None,
    ) -> Stream:
        """A reply that goes on counting. Raises ProfileError, TargetLost, httpx.HTTPError."""
        body = {
            "model": "any",
            "max_tokens": tokens,
            "temperature": 0,
            "messages": [*messages, {"role": "assistant", "content": _COUNT}],
            "continue_final_message": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        names = {"X-Halogen-Keep": keep, "X-Halogen-From": start}
        headers = {name: value for name, value in names.items() if value is not None}
        clock = asyncio.get_running_loop().time
        stream = Stream(clock())
        async with self._client.stream(
            "POST", "/v1/chat/completions", json=body, headers=headers
        ) as answer:
            if answer.is_error:
                await answer.aread()
                raise ProfileError(told(answer))
            outcome = answer.headers.get("X-Halogen-From")
            if start is not None and outcome != "used":
                raise ProfileError(
                    f"the server did not start from what it kept (X-Halogen-From: {outcome})"
                )
            async for line in answer.aiter_lines():
                if line.startswith("data: {") and _take(json.loads(line[6:]), stream):
                    stream.pieces.append(clock())
                    if begun is not None:
                        begun.set()
        if not stream.pieces:
            raise ProfileError("the server's replies are empty, which have no pace to measure")
        return stream


def _take(event: Any, stream: Stream) -> bool:
    """Take one event in; whether it brought text."""
    usage = event.get("usage")
    if usage:
        stream.prompt, stream.output = usage["prompt_tokens"], usage["completion_tokens"]
        stream.cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    pieces = [choice["delta"].get("content") for choice in event.get("choices", ())]
    text = "".join(piece for piece in pieces if piece)
    stream.text += text
    return bool(text)
