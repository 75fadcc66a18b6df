"""The seam around the application: what goes in and what comes out of it can be changed."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from halogen_reference.dialects import DIALECTS
from halogen_reference.server import Server

Headers = list[tuple[bytes, bytes]]
KEEP, FROM = b"x-halogen-keep", b"x-halogen-from"
LIST = "/halogen/handles"


@dataclass(slots=True)
class Asked:
    """A request as it came, and the server it came to."""

    server: Server
    path: str
    headers: Headers
    body: Any = None
    """JSON; None when it is none."""
    client: Any = None
    state: dict[str, Any] = field(default_factory=dict)
    """For a fault's own notes from one hook to the next."""

    @property
    def is_reply(self) -> bool:
        """It asks one of the three routes for a reply."""
        return self.path in DIALECTS

    @property
    def is_stream(self) -> bool:
        return isinstance(self.body, dict) and self.body.get("stream") is True

    def header(self, name: bytes) -> str | None:
        values = [value.decode("latin-1") for key, value in self.headers if key == name]
        return ", ".join(values) if values else None


@dataclass(slots=True)
class Answered:
    """Status and headers of an answer that is on its way; its body comes later."""

    status: int
    headers: Headers


def without(headers: Headers, *names: bytes) -> Headers:
    """The headers without those of these names, which are in lower case."""
    return [(name, value) for name, value in headers if name not in names]


@dataclass(frozen=True, slots=True)
class Edit:
    """Hooks around the application; each may be left out.

    ``ask`` may change the request; what it returns, if anything, is the answer (status and JSON)
    and the application is not asked. ``answer`` may change status and headers. ``after`` is told
    of the answer once it is out, or of None when the client left before it was.
    """

    ask: Callable[[Asked], tuple[int, Any] | None] | None = None
    answer: Callable[[Asked, Answered], None] | None = None
    after: Callable[[Asked, Answered | None], None] | None = None

    def __call__(self, app: ASGIApp, server: Server) -> ASGIApp:
        return _Edited(app, server, self)


class _Edited:
    def __init__(self, app: ASGIApp, server: Server, edit: Edit) -> None:
        self._app, self._server, self._edit = app, server, edit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw = await _body(receive)
        asked = Asked(
            self._server, scope["path"], list(scope["headers"]), _json(raw), scope.get("client")
        )
        before = json.dumps(asked.body)
        if self._edit.ask is not None:
            ready = self._edit.ask(asked)
            if ready is not None:
                await _send_json(send, *ready)
                return
        if json.dumps(asked.body) != before:
            raw = json.dumps(asked.body).encode()
            asked.headers = without(asked.headers, b"content-length")
        changed = {**scope, "path": asked.path, "headers": asked.headers}
        await self._pass_on(changed, asked, raw, receive, send)

    async def _pass_on(
        self, scope: Scope, asked: Asked, raw: bytes, receive: Receive, send: Send
    ) -> None:
        unread, left, answered = True, False, Answered(0, [])

        async def receive_again() -> Message:
            nonlocal unread, left
            if unread:
                unread = False
                return {"type": "http.request", "body": raw, "more_body": False}
            message = await receive()
            left = left or (message["type"] == "http.disconnect" and not finished)
            return message

        finished = False

        async def send_edited(message: Message) -> None:
            nonlocal finished
            if message["type"] == "http.response.start":
                answered.status, answered.headers = message["status"], list(message["headers"])
                if self._edit.answer is not None:
                    self._edit.answer(asked, answered)
                message = {**message, "status": answered.status, "headers": answered.headers}
            elif not message.get("more_body", False):
                finished = True
            await send(message)

        await self._app(scope, receive_again, send_edited)
        if self._edit.after is not None:
            self._edit.after(asked, None if left else answered)


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


async def _send_json(send: Send, status: int, content: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(content).encode()})
