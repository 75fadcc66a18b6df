"""One HTTP exchange: the body read, the answer sent, the client's leaving noticed."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager

from pydantic_core import to_json
from starlette.types import Message, Receive, Scope, Send

from halogen_reference.errors import RequestError
from halogen_reference.http.access import presented_key

BODY_LIMIT = 32 * 2**20
"""Bytes of a request body."""
UNWATCHED_S = 0.02
"""Seconds of work before anybody looks whether the client is still there: a task for each answer
that is made at once would cost more than such answers do."""

_KEY_HEADERS = (b"authorization", b"x-api-key")


def new_request_id() -> str:
    """Names one request, in its answer and in the log."""
    return f"req_{secrets.token_hex(12)}"


def id_headers(request_id: str) -> dict[str, str]:
    """The headers in which the vendors' clients look for a request's id."""
    return {"x-request-id": request_id, "request-id": request_id}


class ClientLeft(Exception):
    """The client closed the connection; nobody is there to answer."""


class Exchange:
    """A request's body and the way back to its client."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.request_id = new_request_id()
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._receive, self._send = receive, send

    def header(self, name: str) -> str | None:
        """A request header; given more than once, its values with ``, `` between."""
        wanted = name.lower().encode()
        # White space after a value is not part of it (RFC 9110, 5.5); parsers may leave it there.
        values = [v.decode("latin-1").strip(" \t") for key, v in self.headers if key == wanted]
        return ", ".join(values) if values else None

    def key(self) -> str:
        """The API key the request carries, or nothing."""
        # Of a header that is given more than once the first counts, as everywhere.
        given = {name: value for name, value in reversed(self.headers) if name in _KEY_HEADERS}
        return presented_key({n.decode(): v.decode("latin-1") for n, v in given.items()})

    async def body(self) -> bytes:
        """The whole body. Raises RequestError 413 when it is too large, ClientLeft."""
        chunks, size = [], 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > BODY_LIMIT:
                raise RequestError(413, f"the request body is over {BODY_LIMIT // 2**20} MiB")
            if not message.get("more_body", False):
                return b"".join(chunks)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """For work that only the waiting client needs: if it leaves, the block is cancelled and
        ClientLeft raised. Only after :meth:`body`."""
        loop, working = asyncio.get_running_loop(), asyncio.current_task()
        assert working is not None
        watcher: asyncio.Task[None] | None = None
        left = False

        async def watch() -> None:
            nonlocal left
            while (await self._receive())["type"] != "http.disconnect":
                pass
            left = True
            working.cancel()

        def begin() -> None:
            nonlocal watcher
            watcher = loop.create_task(watch())

        unwatched = loop.call_later(UNWATCHED_S, begin)
        try:
            yield
        except asyncio.CancelledError:
            if not left:
                raise
            working.uncancel()
            raise ClientLeft from None
        finally:
            unwatched.cancel()
            if watcher is not None:
                watcher.cancel()

    async def send_json(
        self, status: int, content: object, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        body = to_json(content)
        kind = {"content-type": "application/json", "content-length": str(len(body))}
        await self._begin(status, {**kind, **(headers or {})})
        await self._send({"type": "http.response.body", "body": body})

    async def send_stream(self, headers: Mapping[str, str], chunks: AsyncIterator[bytes]) -> None:
        """A streamed answer; the connection is closed after the last chunk."""
        await self._begin(200, headers)
        async for chunk in chunks:
            await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    async def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        every = {**id_headers(self.request_id), **headers}
        raw = [(name.encode(), value.encode("latin-1")) for name, value in every.items()]
        start: Message = {"type": "http.response.start", "status": status, "headers": raw}
        await self._send(start)
