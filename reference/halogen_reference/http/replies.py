"""The endpoint of the three routes: a body in, a reply out, streamed or whole."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from dataclasses import replace

from halogen_reference.dialects import Request
from halogen_reference.dialects.sse import HEADERS
from halogen_reference.errors import RequestError
from halogen_reference.http.access import admit
from halogen_reference.http.claude_code import read_thread
from halogen_reference.http.endpoint import FROM, Endpoint
from halogen_reference.http.exchange import Exchange
from halogen_reference.reply import ReplyEvent, ReplyFailed
from halogen_reference.sessions.sessions import Outcome, Wish
from halogen_reference.turn import Turn

KEEPALIVE_S = 10.0
"""Seconds of silence after which a stream shows a sign of life (P19)."""

Events = AsyncGenerator[tuple[int, ReplyEvent]]


class Replies(Endpoint):
    """ASGI endpoint for one dialect."""

    async def answer(self, exchange: Exchange, headers: dict[str, str]) -> None:
        server = self.server
        wish = self._wish(exchange)
        if wish.start_from is not None:
            # Whoever is not let in learns nothing of a name.
            headers[FROM] = Outcome.UNKNOWN.value
        admit(wish.key, server.settings.api_keys)
        # What is said when the request cannot be read; what becomes of it is known below (FROM-1).
        failure = server.sessions.outcome_of_failure(wish)
        if failure is not None:
            headers[FROM] = failure.value
        body = await exchange.body()
        request = self.dialect.parse(body, check_model=server.check_model)
        if server.settings.fork and server.settings.fork_map:
            wish = replace(wish, thread=read_thread(exchange, request.user_id, wish.key))
        turn = await Turn.open(server.engine, server.sessions, server.metrics, request.call, wish)
        if turn.outcome is not None:
            headers[FROM] = turn.outcome.value
        if turn.keep_accepted is not None:
            headers["x-halogen-keep"] = "accepted" if turn.keep_accepted else "refused"
        with closing(turn), exchange.attended():
            async with aclosing(turn.events()) as events:
                await self._send(exchange, request, events, headers)

    async def _send(
        self, exchange: Exchange, request: Request, events: Events, headers: dict[str, str]
    ) -> None:
        # Nothing is sent before the request has its place: until then it may still be refused.
        first = await anext(events)
        if request.call.stream:
            async with aclosing(self._stream(request, first, events)) as chunks:
                await exchange.send_stream({**HEADERS, **headers}, chunks)
        else:
            reply = await self._whole(request, events)
            await exchange.send_json(200, reply, headers)

    def _wish(self, exchange: Exchange) -> Wish:
        key = exchange.key()
        if not self.server.settings.fork:
            return Wish(key=key)
        return Wish(exchange.header(FROM), exchange.header("x-halogen-keep"), key=key)

    async def _whole(self, request: Request, events: Events) -> object:
        choices: list[list[ReplyEvent]] = [[] for _ in range(request.call.n)]
        try:
            async for choice, event in events:
                choices[choice].append(event)
        except ReplyFailed as error:
            raise RequestError(500, str(error)) from None
        return self.dialect.reply(request, choices)

    async def _stream(
        self, request: Request, first: tuple[int, ReplyEvent], events: Events
    ) -> AsyncGenerator[bytes]:
        stream = self.dialect.stream(request)
        choice, event = first
        yield stream.feed(event, choice)
        pending: asyncio.Task[tuple[int, ReplyEvent]] | None = None
        try:
            while True:
                pending = pending or asyncio.ensure_future(anext(events))
                done, _ = await asyncio.wait([pending], timeout=KEEPALIVE_S)
                if not done:
                    yield stream.keepalive()
                    continue
                choice, event = pending.result()
                pending = None
                chunk = stream.feed(event, choice)
                if chunk:
                    yield chunk
        except StopAsyncIteration:
            yield stream.end()
        except ReplyFailed as error:
            yield stream.failed(str(error))
        finally:
            if pending is not None:
                pending.cancel()
                await asyncio.wait([pending])
