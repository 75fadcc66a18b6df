"""A light streaming client: what it costs must not show in what it measures."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import h11
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


@dataclass(slots=True)
class _Arrived:
    """An answer as it came: pieces of bytes, and when. It is read once all of it is there, because
    reading takes processor time from the server whose pace is measured."""

    sent: float
    pieces: list[tuple[float, bytes]]
    ended: float


async def at_once(url: str, asks: Sequence[Ask]) -> list[Heard]:
    """Send them all and read every reply to its end. Raises httpx.HTTPError."""
    place = httpx.URL(f"{url}/v1/chat/completions")
    arrived = await asyncio.gather(*(_exchange(place, ask) for ask in asks))
    return [_heard(place, one) for one in arrived]


async def _exchange(place: httpx.URL, ask: Ask) -> _Arrived:
    body = json.dumps(
        {
            "model": MODEL,
            "messages": list(ask.messages),
            "max_tokens": ask.max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **ask.headers(),
    }
    return await _send(place, "POST", headers, body)


async def _send(
    place: httpx.URL, method: str, headers: Mapping[str, str], body: bytes = b""
) -> _Arrived:
    head = {"Host": f"{place.host}:{place.port}", "Connection": "close", **headers}
    lines = [f"{method} {place.path} HTTP/1.1", *(f"{key}: {value}" for key, value in head.items())]
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(place.host, place.port)
            one = _Arrived(time.perf_counter(), [], 0)
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            while data := await reader.read(2**16):
                one.pieces.append((time.perf_counter(), data))
            one.ended = time.perf_counter()
            writer.close()
            await writer.wait_closed()
    except (OSError, TimeoutError) as error:
        raise httpx.HTTPError(f"{place}: {str(error) or 'no end in sight'}") from None
    return one


def _heard(place: httpx.URL, arrived: _Arrived) -> Heard:
    status, headers, chunks = _read(arrived)
    if status != 200:
        text = b"".join(data for _, data in chunks).decode("utf-8", "replace")
        raise httpx.HTTPError(f"{status} from {place}: {text[:300]}")
    pieces, text, left = list[float](), "", b""
    usage: dict[str, Any] = {}
    for at, data in chunks:
        *lines, left = (left + data).split(b"\n")
        for line in lines:
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line[6:])
            usage = chunk.get("usage") or usage
            piece = chunk["choices"][0]["delta"].get("content") if chunk["choices"] else None
            if piece:
                pieces.append(at)
                text += piece
    return Heard(
        sent=arrived.sent,
        pieces=tuple(pieces),
        ended=arrived.ended,
        text=text,
        outcome=headers.get("x-halogen-from"),
        prompt=usage.get("prompt_tokens", 0),
        cached=(usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
        output=usage.get("completion_tokens", len(pieces)),
    )


def _read(arrived: _Arrived) -> tuple[int, dict[str, str], list[tuple[float, bytes]]]:
    """Status, headers and the body's pieces with their times. Raises httpx.HTTPError."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "read")]))
    connection.send(h11.EndOfMessage())
    status, headers, chunks = 0, dict[str, str](), list[tuple[float, bytes]]()
    try:
        for at, data in [*arrived.pieces, (arrived.ended, b"")]:
            connection.receive_data(data)
            while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                if isinstance(event, h11.Response):
                    status = event.status_code
                    headers = {name.decode(): value.decode() for name, value in event.headers}
                elif isinstance(event, h11.Data):
                    chunks.append((at, bytes(event.data)))
                elif isinstance(event, h11.ConnectionClosed):
                    break
    except h11.RemoteProtocolError as error:
        raise httpx.HTTPError(f"the answer is broken off: {error}") from None
    return status, headers, chunks


async def cells_used(url: str) -> int:
    """``halogen_kv_cells_used`` now. Raises httpx.HTTPError."""
    _, _, chunks = _read(await _send(httpx.URL(f"{url}/metrics"), "GET", {}))
    page = b"".join(data for _, data in chunks).decode()
    for line in page.splitlines():
        if line.startswith("halogen_kv_cells_used "):
            return int(float(line.split()[1]))
    raise httpx.HTTPError(f"{url}/metrics does not show halogen_kv_cells_used")
