"""One exchange over Locust's FastHttpUser, read event by event, as the drivers' record of it.

Every exchange has a connection of its own, as in the conformance suite: a connection the server
closed while it was idle would look like a lost answer.
"""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import gevent
from geventhttpclient.response import HTTPConnectionClosed, HTTPParseError
from locust.contrib.fasthttp import FastHttpSession, ResponseContextManager

from halogen_conformance.drivers.arrival import brings_text
from halogen_conformance.drivers.driver import Request
from halogen_conformance.drivers.exchange import Ending, Exchange, TimedEvent
from halogen_conformance.drivers.secrets import hide_header
from halogen_conformance.drivers.sse import SseError, SseParser
from halogen_loadtest.target import auth_headers
from halogen_loadtest.timing import Timing

_OWN = {
    "Connection": "close",
    "Accept-Encoding": "identity",
    "User-Agent": "halogen-loadtest",
    "Content-Type": "application/json",
}

_BROKEN: tuple[tuple[type[BaseException], Ending], ...] = (
    (ConnectionRefusedError, Ending.UNREACHABLE),
    (TimeoutError, Ending.IDLE),
    (HTTPConnectionClosed, Ending.DIED),
    (HTTPParseError, Ending.DIED),
    (SseError, Ending.GARBAGE),
    (OSError, Ending.DIED),
)
"""The first kind that fits says how an exchange ended. A cut stream is a parser's error, too."""


@dataclass(slots=True)
class Sent:
    """One exchange under way, and the record of it that is being written."""

    request: Request
    timing: Timing = field(default_factory=Timing)
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    size: int = 0
    events: list[TimedEvent] = field(default_factory=list)
    parser: SseParser | None = None
    ending: Ending = Ending.COMPLETE
    error: str = ""
    at: float = field(default_factory=time.time)
    _start: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def perform(
        self, session: FastHttpSession, row: str, limit_s: float, leave_after: int | None
    ) -> ResponseContextManager:
        """Send it, and read the answer to its end: of the server's or of our patience.

        Locust's statistics hear of it when the result is used as a context manager.
        ``leave_after`` hangs up after so many events (0: at the headers).
        """
        body = self._body.encode()
        came: list[ResponseContextManager] = []
        patience = gevent.Timeout(limit_s)
        try:
            with patience:
                came.append(self._send(session, row, body))
                self._take(came[0], leave_after)
        except gevent.Timeout as timeout:
            if timeout is not patience:
                raise
            self.ending = Ending.OVERDUE
            self.error = f"the answer was not complete after {limit_s:g} s"
        response = came[0] if came else _stand_in(session, row, self.request)
        self.timing.end = self.now()
        if self.ending is not Ending.COMPLETE:
            _hang_up(response)
        response.request_meta["response_time"] = self.timing.end * 1000
        response.request_meta["response_length"] = self.size
        return response

    def _send(self, session: FastHttpSession, row: str, body: bytes) -> ResponseContextManager:
        headers = _OWN | auth_headers() | {name: _text(v) for name, v in self.request.headers}
        return session.request(
            self.request.method,
            self.request.path,
            name=row,
            data=body,  # type: ignore[arg-type]  # bytes go out as they are
            headers=headers,
            stream=True,
            catch_response=True,
        )

    def _take(self, response: ResponseContextManager, leave_after: int | None) -> None:
        self.timing.headers = self.now()
        self.status = response.status_code or None
        if response.headers is not None:
            self.headers = tuple((name.lower(), value) for name, value in response.headers.items())
        if self.status is None:
            self._broke(getattr(response, "error", None))
            return
        kinds = [value for name, value in self.headers if name == "content-type"]
        if kinds and kinds[0].lower().startswith("text/event-stream"):
            self.parser = SseParser()
        try:
            self._read(response, leave_after)
        except (OSError, HTTPParseError, SseError) as error:
            self._broke(error)

    def _read(self, response: ResponseContextManager, leave_after: int | None) -> None:
        if self.parser is None:
            self.body = response.content or b""
            self.size = len(self.body)
            return
        seen = 0
        for data in [b""] if leave_after == 0 else _pieces(response):
            self.size += len(data)
            seen += self._note(self.parser, data)
            if leave_after is not None and seen >= leave_after:
                self.ending = Ending.LEFT
                return
        for event in self.parser.close():
            self.events.append(TimedEvent(self.now(), event))

    def _note(self, parser: SseParser, data: bytes) -> int:
        """Take in what came; how many events that completed, comments not counted."""
        now, real = self.now(), 0
        for event in parser.feed(data):
            self.events.append(TimedEvent(now, event))
            real += event.comment is None
            if brings_text(self.request.route or "", event):
                self.timing.pieces.append(now)
        return real

    def _broke(self, error: BaseException | None) -> None:
        # What the library gave up on is wrapped in its own exception.
        error = getattr(error, "original", None) or error
        self.ending = next((e for kind, e in _BROKEN if isinstance(error, kind)), Ending.DIED)
        self.error = f"{type(error).__name__}: {error}" if error is not None else "no answer"

    @property
    def _body(self) -> str:
        body = self.request.body
        return "" if body is None else json.dumps(body, ensure_ascii=False)

    def exchange(self) -> Exchange:
        """The record, secrets hidden."""
        sent = auth_headers() | {name: _text(value) for name, value in self.request.headers}
        return Exchange(
            method=self.request.method,
            path=self.request.path,
            route=self.request.route,
            request_headers=tuple((name, hide_header(name, text)) for name, text in sent.items()),
            request_body=self._body,
            at=self.at,
            seconds=self.timing.end,
            ending=self.ending,
            error=self.error,
            status=self.status,
            headers=tuple((name, hide_header(name, value)) for name, value in self.headers),
            body=self.body,
            events=tuple(self.events),
            torn=self.parser.torn if self.parser else None,
            bad_utf8=self.parser.bad_utf8 if self.parser else False,
            first_byte_s=self.timing.headers,
            left_after=self.size if self.ending is Ending.LEFT else None,
        )


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def _pieces(response: ResponseContextManager) -> Iterator[bytes]:
    """The body line by line as it arrives: a whole block would wait for more than one event."""
    stream = response.stream
    while line := stream.readline(b"\n"):
        yield line
    yield stream.read()


def _hang_up(response: ResponseContextManager) -> None:
    if response._response is not None:
        with suppress(OSError):
            response.release()


def _stand_in(session: FastHttpSession, row: str, request: Request) -> ResponseContextManager:
    """For a request that had no answer at all in the time it was given."""
    error = TimeoutError("no answer")
    meta: dict[str, Any] = {
        "request_type": request.method,
        "name": row,
        "context": {},
        "response": None,
        "exception": error,
        "start_time": time.time(),
        "url": request.path,
    }
    blank = ResponseContextManager.__new__(ResponseContextManager)
    blank._request_event = session.request_event
    blank.request_meta = meta
    blank._catch_response = True
    blank._response = None
    blank.error = error  # type: ignore[attr-defined]
    return blank
