"""A world in which waiting takes no time: the clock jumps to whatever comes next, and shows exactly
what was waited for, however busy the machine is."""

import asyncio
import selectors
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import httpx
from starlette.types import ASGIApp, Message

T = TypeVar("T")

_THREAD_S = 10.0


def run(work: Coroutine[Any, Any, T]) -> T:
    """Like :func:`asyncio.run`, in no time. Nothing in it may wait for other processes."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(work)


class Loop(asyncio.SelectorEventLoop):
    """Its time passes only when there is nothing left to do but wait."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self.now


class _Selector(selectors.SelectSelector):
    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # Nothing is due at any time: then a thread is being waited for.
        ready = super().select(_THREAD_S if timeout is None else 0)
        if not ready:
            assert timeout is not None, "everybody waits for ever"
            self._loop.now += timeout
        return ready


class Transport(httpx.AsyncBaseTransport):
    """Requests to an ASGI application in this loop. Streams come as they are sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(await request.aread())
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": request.url.path,
            "raw_path": request.url.raw_path,
            "query_string": b"",
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
        }
        exchange.work = asyncio.ensure_future(self._app(scope, exchange.receive, exchange.sent.put))
        start = await exchange.sent.get()
        return httpx.Response(start["status"], headers=start["headers"], stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.work: asyncio.Future[None] | None = None
        self._bodies = [body]
        self._left = asyncio.Event()

    async def receive(self) -> Message:
        if self._bodies:
            return {"type": "http.request", "body": self._bodies.pop(), "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self.sent.get()
            yield message["body"]
            more = message.get("more_body", False)

    async def aclose(self) -> None:
        self._left.set()
        assert self.work is not None
        await self.work
