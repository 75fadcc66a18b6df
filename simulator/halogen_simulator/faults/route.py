"""Which route a request came by, for faults of one route: sessions do not know routes."""

from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

from halogen_reference.server import Server

PATH: ContextVar[str] = ContextVar("path", default="")


class _Noted:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        PATH.set(scope.get("path", ""))
        await self._app(scope, receive, send)


def noted(app: ASGIApp, server: Server) -> ASGIApp:
    """An application around which :data:`PATH` is the request's path."""
    return _Noted(app)
