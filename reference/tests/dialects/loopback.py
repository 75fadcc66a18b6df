"""A throwaway server on a real socket: the dialects with scripted replies behind them.

It is what the real SDKs talk to in these tests. Every chunk the dialect returns is sent as a chunk
of its own.
"""

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from halogen_reference.dialects import DIALECTS, Request, messages, sse
from halogen_reference.errors import RequestError
from halogen_reference.reply import ReplyEvent


@dataclass
class Loopback:
    """What the server answers with; a test sets it before it asks."""

    url: str
    replies: list[list[ReplyEvent]] = field(default_factory=list)
    """One run of events for each choice."""
    failure: str | None = None
    """Set: the stream fails with this message where it would end."""
    refusal: RequestError | None = None
    """Set: every request is refused with it."""
    seen: Request | None = None
    """The last request, parsed."""

    def script(self, *replies: list[ReplyEvent], failure: str | None = None) -> None:
        self.replies, self.failure, self.refusal = list(replies), failure, None

    async def answer(self, http: HttpRequest) -> Response:
        dialect = DIALECTS[http.url.path]
        try:
            if self.refusal:
                raise self.refusal
            request: Request = dialect.parse(await http.body())
        except RequestError as problem:
            status, headers, body = dialect.error(problem, "req_1")
            return JSONResponse(body, status, headers)
        self.seen = request
        if request.call.stream:
            return StreamingResponse(self._stream(http.url.path, request), headers=sse.HEADERS)
        return JSONResponse(dialect.reply(request, self.replies))

    async def count(self, http: HttpRequest) -> Response:
        self.seen = messages.parse_count(await http.body())
        return JSONResponse(messages.count_reply(12))

    async def _stream(self, path: str, request: Request) -> AsyncIterator[bytes]:
        stream = DIALECTS[path].stream(request)
        yield stream.keepalive()
        longest = max(len(reply) for reply in self.replies)
        for step in range(longest):
            # The last choice first: nothing may depend on who is admitted first.
            for choice, reply in reversed(list(enumerate(self.replies))):
                if step < len(reply):
                    yield stream.feed(reply[step], choice)
                    yield stream.keepalive()
        if self.failure:
            yield stream.failed(self.failure)
        else:
            yield stream.end()


@contextmanager
def serve() -> Iterator[Loopback]:
    """The server, for as long as the block runs."""
    listener = socket.create_server(("127.0.0.1", 0))
    loopback = Loopback(f"http://127.0.0.1:{listener.getsockname()[1]}")
    routes = [Route(path, loopback.answer, methods=["POST"]) for path in DIALECTS]
    routes.append(Route("/v1/messages/count_tokens", loopback.count, methods=["POST"]))
    app = Starlette(routes=routes)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
        assert not thread.is_alive(), "the loopback server did not stop"
