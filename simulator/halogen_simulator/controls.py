"""``/simulator/...``: what tests may do that no client can. There only with ``--test-controls``."""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from halogen_reference.server import Server
from halogen_simulator.clock import Clock
from halogen_simulator.engine import SimEngine
from halogen_simulator.state import SimState

CLOCK, STATE = "/simulator/clock", "/simulator/state"


class Controls:
    """ASGI wrapper: answers the two control routes and leaves the rest to the server."""

    def __init__(self, app: ASGIApp, server: Server, engine: SimEngine, clock: Clock) -> None:
        self._app, self._server, self._engine, self._clock = app, server, engine, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in (CLOCK, STATE):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        match request.method, scope["path"]:
            case "POST", "/simulator/clock":
                answer = await self._turn(request)
            case "GET", "/simulator/clock":
                answer = self._time()
            case "GET", "/simulator/state":
                answer = JSONResponse(self._state())
            case _:
                answer = _wrong(405, "POST /simulator/clock, GET /simulator/state")
        await answer(scope, receive, send)

    async def _turn(self, request: Request) -> Response:
        try:
            seconds = json.loads(await request.body())["advance_s"]
            self._clock.advance(float(seconds))
        except (ValueError, KeyError, TypeError):
            return _wrong(400, 'the body must be {"advance_s": SECONDS}, SECONDS not below 0')
        return self._time()

    def _time(self) -> Response:
        return JSONResponse({"now": self._clock(), "ahead_s": self._clock.ahead_s})

    def _state(self) -> dict[str, object]:
        pool = self._engine.pool()
        return {
            **self._engine.ledger.page(),
            "names": {
                entry.name: [
                    state.number
                    for lineage in entry.lineages
                    if isinstance(state := lineage.kept.state, SimState)
                ]
                for entry in self._server.sessions.table.live()
            },
            "pool": {
                "cells": pool.cells,
                "used": pool.used,
                "shared": pool.shared,
                "running": pool.running,
                "waiting": pool.waiting,
            },
        }


def _wrong(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message}}, status)
