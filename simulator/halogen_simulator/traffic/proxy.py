"""A proxy on the loopback interface that passes everything through and writes the requests down."""

import json
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import anyio
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from halogen_conformance.drivers.reply import Reply
from halogen_simulator.traffic.masks import Masks
from halogen_simulator.traffic.reading import Reader, reader_for
from halogen_simulator.traffic.recording import Recorded
from halogen_simulator.traffic.replies import said

_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"),
        *("trailer", "transfer-encoding", "upgrade"),
    }
)
NO_IDLE_CONNECTIONS = httpx.Limits(max_connections=None, max_keepalive_connections=0)
"""The server may close an idle connection at the moment it is used again."""
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


class ProxyError(Exception):
    """The proxy cannot be started; the message is one line."""


class Recorder:
    """Writes requests down once they are answered. Numbers are given in the order of arrival, and
    readers sort by them."""

    def __init__(self, file: IO[str], salt: bytes | None = None) -> None:
        self._file = file
        self._masks = Masks(salt or secrets.token_bytes(32))
        self._n = 0
        self.written = 0
        """Requests that are in the file."""

    def arrived(self, request: Request, body: bytes) -> Recorded:
        """A request, masked."""
        self._n += 1
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        try:
            value = self._masks.body(json.loads(body)) if body else None
        except ValueError:
            value = None  # no JSON: nothing that could be played again
        headers = self._masks.headers(request.headers)
        return Recorded(self._n, request.method, path, headers, value)

    def heard(self, record: Recorded, reply: Reply) -> list[dict[str, Any]] | None:
        """Note a reply, so that requests that repeat it say so. Returns it masked; None for one
        that nobody can repeat, cut off in the middle of a call."""
        try:
            return self._masks.reply(record.n, said(reply))
        except ValueError:
            return None

    def answered(self, record: Recorded, status: int, outcomes: list[str], reply: Reply) -> None:
        """Write the request down with what came of it."""
        answer: dict[str, Any] = {"status": status, "outcome": ", ".join(outcomes) or None}
        if reply.usage is not None:
            usage = reply.usage
            answer |= {"prompt": usage.prompt, "cost": usage.cost, "output": usage.output}
        answer["content"] = self.heard(record, reply)
        line = Recorded(
            record.n, record.method, record.path, record.headers, record.body, answer
        ).line()
        self._file.write(line)
        self._file.flush()
        self.written += 1


def proxy(to: str, recorder: Recorder) -> Starlette:
    """An application that answers every request with what ``to`` answers to it."""
    client = httpx.AsyncClient(
        base_url=to, timeout=None, trust_env=False, limits=NO_IDLE_CONNECTIONS
    )

    async def forward(request: Request) -> Response:
        body = await request.body()
        record = recorder.arrived(request, body)
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        sent = client.build_request(
            request.method, path, headers=_passed(request.headers.raw), content=body
        )
        try:
            got = await client.send(sent, stream=True)
        except httpx.TransportError as error:
            recorder.answered(record, 502, [], Reply())
            return PlainTextResponse(f"no answer from {to}: {error}\n", 502)
        reader = reader_for(record.route, got.status_code, got.headers.get("content-type", ""))
        response = StreamingResponse(_pass_on(got, reader, record, recorder), got.status_code)
        response.raw_headers = [
            (name.lower(), value)
            for name, value in got.headers.raw
            if name.lower().decode("latin-1") not in _HOP_BY_HOP
        ]
        return response

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    return Starlette(routes=[Route("/{path:path}", forward, methods=_METHODS)], lifespan=life)


async def _pass_on(
    got: httpx.Response, reader: Reader, record: Recorded, recorder: Recorder
) -> AsyncIterator[bytes]:
    """The bytes as they come. When the client leaves, the server is left too."""
    try:
        async for piece in got.aiter_raw():
            reader.feed(piece)
            if reader.complete:
                # The client may send its next request before this connection has ended.
                recorder.heard(record, reader.finish())
            yield piece
    finally:
        outcomes = got.headers.get_list("x-halogen-from")
        recorder.answered(record, got.status_code, outcomes, reader.finish())
        with anyio.CancelScope(shield=True):
            await got.aclose()


def _passed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What goes on to the server. The answer is wanted as it is: it is read along the way."""
    own = (b"host", b"content-length", b"accept-encoding")
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in own and name.lower().decode("latin-1") not in _HOP_BY_HOP
    ]
    return [*kept, (b"accept-encoding", b"identity")]


def serve(port: int, to: str, path: Path) -> int:
    """Record until interrupted. Raises ProxyError for an address, a port or a file that will not
    do. Returns 0."""
    if urlsplit(to).scheme not in ("http", "https") or not urlsplit(to).hostname:
        raise ProxyError(f"--to {to!r} is not an http:// or https:// address")
    try:
        # Never over somebody's recording, and for nobody else's eyes.
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
    except OSError as error:
        raise ProxyError(f"cannot write {path}: {error.strerror}") from None
    with file, socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            path.unlink()
            raise ProxyError(f"cannot listen on port {port}: {error.strerror}") from None
        recorder = Recorder(file)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.listen(128)
        print(f"halogen-simulator: recording on {address}, answers from {to}", flush=True)
        config = uvicorn.Config(
            proxy(to, recorder),
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=5,
            ws="none",
        )
        with suppress(KeyboardInterrupt):  # uvicorn passes it on once it has shut down
            uvicorn.Server(config).run(sockets=[listening])
    count = recorder.written
    requests = "1 request is" if count == 1 else f"{count} requests are"
    print(f"halogen-simulator: {requests} in {path}", flush=True)
    return 0
