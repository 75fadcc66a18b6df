"""Perform one exchange and write it down, secrets hidden."""

import codecs
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import h11

from halogen_conformance.drivers.connection import Broken, Connection, Limits, Origin, RawHeaders
from halogen_conformance.drivers.driver import Header, Request
from halogen_conformance.drivers.exchange import Ending, Exchange, TimedEvent
from halogen_conformance.drivers.secrets import hide_header
from halogen_conformance.drivers.sse import SseError, SseEvent, SseParser

UNANSWERED = -1
"""``leave_after``: hang up as soon as the request is sent; 0: when the headers are there."""

OnEvent = Callable[[SseEvent], bool]
"""Called for each event that is no comment; False hangs up. It may block: a slow reader."""


def perform(
    origin: Origin,
    request: Request,
    limits: Limits,
    *,
    headers: tuple[Header, ...] = (),
    leave_after: int | None = None,
    leave_after_s: float | None = None,
    on_event: OnEvent | None = None,
) -> Exchange:
    """Send the request on a connection of its own, read the answer to its end.

    ``headers`` go before the request's own. ``leave_after`` hangs up after so many events,
    ``leave_after_s`` after so many seconds. Never raises for what a server does: the outcome is
    in ``Exchange.ending``. Raises ValueError for a request that cannot be put on the wire.
    """
    body = _body_bytes(request.body)
    sent = _headers(origin, (*headers, *request.headers), body, request)
    record = _Record(request, origin.prefix + request.path, sent, body, leave_after)
    leave_at = None if leave_after_s is None else time.monotonic() + leave_after_s
    try:
        with Connection(origin, limits, leave_at) as connection:
            connection.send(request.method, record.path, sent, body)
            if leave_after == UNANSWERED:
                raise Broken(Ending.LEFT, "")
            for part in connection.receive():
                record.take(part, limits.max_bytes, on_event)
                if record.left_early or record.real_events == leave_after:
                    raise Broken(Ending.LEFT, "")
            record.end()
    except Broken as broken:
        return record.exchange(broken.ending, str(broken))
    except SseError as error:
        return record.exchange(Ending.GARBAGE, str(error))
    return record.exchange(Ending.COMPLETE, "")


def _body_bytes(body: object) -> bytes:
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _headers(
    origin: Origin, extra: tuple[Header, ...], body: bytes, request: Request
) -> RawHeaders:
    found: RawHeaders = [("Host", origin.netloc.encode()), ("Connection", b"close")]
    # Compressed streams would blur when an event arrived.
    found += [("Accept-Encoding", b"identity"), ("User-Agent", b"halogen-conformance")]
    if body or request.method not in ("GET", "HEAD"):
        found += [
            ("Content-Type", b"application/json"),
            ("Content-Length", str(len(body)).encode()),
        ]
    found += [
        (name, value if isinstance(value, bytes) else value.encode()) for name, value in extra
    ]
    return found


@dataclass(slots=True)
class _Record:
    request: Request
    path: str
    sent: RawHeaders
    request_body: bytes
    most_events: int | None = None
    """Events after this many are dropped, however many one packet brought."""
    left_early: bool = False
    real_events: int = 0
    _at: float = field(default_factory=time.time)
    _start: float = field(default_factory=time.monotonic)
    _status: int | None = None
    _headers: tuple[tuple[str, str], ...] = ()
    _parser: SseParser | None = None
    _body: bytearray = field(default_factory=bytearray)
    _frames: list[tuple[float, bytes]] = field(default_factory=list)
    _events: list[TimedEvent] = field(default_factory=list)

    def _now(self) -> float:
        return time.monotonic() - self._start

    def take(self, part: h11.Response | h11.Data, max_bytes: int, on_event: OnEvent | None) -> None:
        if isinstance(part, h11.Response):
            self._status = part.status_code
            self._headers = tuple(
                (name.decode("latin-1").lower(), value.decode("latin-1"))
                for name, value in part.headers
            )
            kinds = [value for name, value in self._headers if name == "content-type"]
            if kinds and kinds[0].lower().startswith("text/event-stream"):
                self._parser = SseParser()
            return
        data = bytes(part.data)
        self._body += data
        self._frames.append((self._now(), data))
        if len(self._body) > max_bytes:
            raise Broken(Ending.TOO_LARGE, f"the answer has more than {max_bytes} bytes")
        if self._parser is not None:
            self._note(self._parser.feed(data), on_event)

    def _note(self, events: list[SseEvent], on_event: OnEvent | None) -> None:
        for event in events:
            if self.real_events == self.most_events or self.left_early:
                return
            self._events.append(TimedEvent(self._now(), event))
            if event.comment is not None:
                continue
            self.real_events += 1
            if on_event is not None:
                self.left_early = not on_event(event)

    def end(self) -> None:
        if self._parser is not None:
            self._note(self._parser.close(), None)

    def exchange(self, ending: Ending, error: str) -> Exchange:
        return Exchange(
            method=self.request.method,
            path=self.path,
            route=self.request.route,
            request_headers=tuple(
                (name, hide_header(name, value.decode("latin-1"))) for name, value in self.sent
            ),
            request_body=self.request_body.decode("utf-8", "replace"),
            at=self._at,
            seconds=self._now(),
            ending=ending,
            error=error,
            status=self._status,
            headers=tuple((name, hide_header(name, value)) for name, value in self._headers),
            body=bytes(self._body),
            frames=_text_frames(self._frames),
            events=tuple(self._events),
            torn=self._parser.torn if self._parser else None,
            bad_utf8=self._parser.bad_utf8 if self._parser else False,
            first_byte_s=self._frames[0][0] if self._frames else None,
            left_after=len(self._body) if ending is Ending.LEFT else None,
        )


def _text_frames(frames: list[tuple[float, bytes]]) -> tuple[tuple[float, str], ...]:
    """Pieces as text; a character cut in two by the network belongs to the later piece."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return tuple((seconds, decoder.decode(piece)) for seconds, piece in frames)
