"""A light streaming client: what it costs must not show in what it measures."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from bench.workload import Message

MODEL = "default"
_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Heard:
    """One streamed reply. Times in seconds of one clock (``perf_counter``)."""

    sent: float
    pieces: tuple[float, ...]
    """When each piece of text came."""
    ended: float
    text: str
    outcome: str | None
    prompt: int
    cached: int
    output: int
    """Tokens of the reply; the pieces are counted where the server does not say."""

    @property
    def first(self) -> float:
        """Seconds to the first text."""
        return (self.pieces[0] if self.pieces else self.ended) - self.sent

    @property
    def evaluated(self) -> int:
        return self.prompt - self.cached


@dataclass(frozen=True, slots=True)
class Ask:
    messages: Sequence[Message]
    max_tokens: int
    start: str | None = None
    keep: str | None = None

    def headers(self) -> dict[str, str]:
        names = {"X-Halogen-From": self.start, "X-Halogen-Keep": self.keep}
        return {header: name for header, name in names.items() if name is not None}


async def at_once(url: str, asks: Sequence[Ask]) -> list[Heard]:
    """Send them all and read every reply to its end."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(trust_env=False, timeout=_TIMEOUT_S, limits=limits) as client:
        return await asyncio.gather(*(_stream(client, url, ask) for ask in asks))


async def _stream(client: httpx.AsyncClient, url: str, ask: Ask) -> Heard:
    body = {
        "model": MODEL,
        "messages": list(ask.messages),
        "max_tokens": ask.max_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    sent, pieces, text = time.perf_counter(), list[float](), ""
    usage: dict[str, Any] = {}
    path = f"{url}/v1/chat/completions"
    async with client.stream("POST", path, json=body, headers=ask.headers()) as answer:
        if answer.status_code != 200:
            await answer.aread()
            raise httpx.HTTPError(f"{answer.status_code} from {path}: {answer.text[:300]}")
        outcome = answer.headers.get("x-halogen-from")
        async for line in answer.aiter_lines():
            if not line.startswith("data: {"):
                continue
            chunk = json.loads(line[6:])
            usage = chunk.get("usage") or usage
            piece = chunk["choices"][0]["delta"].get("content") if chunk["choices"] else None
            if piece:
                pieces.append(time.perf_counter())
                text += piece
    return Heard(
        sent=sent,
        pieces=tuple(pieces),
        ended=time.perf_counter(),
        text=text,
        outcome=outcome,
        prompt=usage.get("prompt_tokens", 0),
        cached=(usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
        output=usage.get("completion_tokens", len(pieces)),
    )


async def cells_used(url: str) -> int:
    """``halogen_kv_cells_used`` now."""
    async with httpx.AsyncClient(trust_env=False) as client:
        page = (await client.get(f"{url}/metrics")).raise_for_status().text
    for line in page.splitlines():
        if line.startswith("halogen_kv_cells_used "):
            return int(float(line.split()[1]))
    raise httpx.HTTPError(f"{url}/metrics does not show halogen_kv_cells_used")
