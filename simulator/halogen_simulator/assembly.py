"""A simulator put together: engine, sessions, app, the fault if one is switched on."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from halogen_reference.http.app import build_app
from halogen_reference.server import Server, build
from halogen_reference.settings import SettingError, Settings
from halogen_simulator.clock import Clock
from halogen_simulator.controls import Controls
from halogen_simulator.engine import Character, SimEngine, Size
from halogen_simulator.faults.fault import Fault
from halogen_simulator.stage import HEADERS

CONTEXT = 8192
"""Tokens, unless ``HALOGEN_CTX`` says otherwise."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """A simulator that is ready to serve. ``app`` is the ASGI application."""

    app: ASGIApp
    server: Server
    engine: SimEngine
    clock: Clock


def assemble(
    settings: Settings,
    character: Character | None = None,
    *,
    fault: Fault | None = None,
    test_controls: bool = False,
) -> Simulator:
    """Put a simulator together. Raises SettingError."""
    character = character or Character()
    if fault is not None and fault.settings is not None:
        settings = fault.settings(settings)
    engine = SimEngine(_size(settings), character)
    clock = Clock()
    server = build(engine, settings, clock)
    if fault is not None and fault.server is not None:
        fault.server(server)
    app: ASGIApp = build_app(server)
    if fault is not None and fault.app is not None:
        app = fault.app(app, server)
    if any(line.headers for line in character.script.lines):
        app = HeadersSeen(app)
    if test_controls:
        app = Controls(app, server, engine, clock)
    return Simulator(app, server, engine, clock)


class HeadersSeen:
    """ASGI wrapper that lets scripts see the request's headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Mapping[str, str] = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope.get("headers", ())
        }
        HEADERS.set(headers)
        await self._app(scope, receive, send)


def _size(settings: Settings) -> Size:
    context = settings.context or CONTEXT
    pool = settings.pool or 2 * context
    if pool < context:
        raise SettingError(
            f"HALOGEN_KV_POOL_POSITIONS={pool} does not hold one context of {context} tokens"
        )
    return Size(context, pool, settings.slots, settings.queue_timeout)
