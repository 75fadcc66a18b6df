"""The record of one HTTP exchange: what was sent, what came back and when, how it ended."""

from dataclasses import dataclass
from enum import Enum

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.reading import parse_json
from halogen_conformance.drivers.sse import SseEvent


class Ending(Enum):
    """How an exchange ended. Whatever the server does, it ends in one of these."""

    COMPLETE = "complete"
    """The whole answer arrived. Whether a stream inside it is whole is the fold's question."""
    LEFT = "left"
    """The suite hung up on purpose."""
    UNREACHABLE = "unreachable"
    """No connection: nobody listens there."""
    DIED = "died"
    """The connection was cut before the answer was whole."""
    GARBAGE = "garbage"
    """What came back is not HTTP, or not readable as an event stream."""
    IDLE = "idle"
    """Nothing arrived for longer than the idle deadline."""
    OVERDUE = "overdue"
    """The total deadline passed: an endless or very slow answer."""
    TOO_LARGE = "too large"
    """More bytes than any legal answer has."""

    @property
    def is_servers_fault(self) -> bool:
        return self not in (Ending.COMPLETE, Ending.LEFT)


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event and the seconds since the request began to be sent."""

    seconds: float
    event: SseEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it. Secrets are already hidden in every header here."""

    method: str
    path: str
    """Path and query."""
    route: str | None
    request_headers: tuple[tuple[str, str], ...]
    request_body: str
    """Text as sent; bytes that are not UTF-8 are shown as U+FFFD."""
    at: float
    """Unix time of the start."""
    seconds: float
    """Until the end, whatever it was."""
    ending: Ending
    error: str = ""
    """One line that says what went wrong; empty for COMPLETE and LEFT."""
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Response headers in their order, names in lower case, values read as Latin-1."""
    body: bytes = b""
    """The response body, as far as it arrived."""
    frames: tuple[tuple[float, str], ...] = ()
    """The body as it arrived, piece by piece, with the seconds since the start."""
    events: tuple[TimedEvent, ...] = ()
    """The events of an event stream; comments are among them."""
    torn: str | None = None
    """An event that the end of the stream cut off."""
    bad_utf8: bool = False
    first_byte_s: float | None = None
    """Seconds until the first byte of the body."""
    left_after: int | None = None
    """Body bytes received when the suite hung up."""

    def header(self, name: str) -> tuple[str, ...]:
        """All values of a response header, in their order."""
        return tuple(value for key, value in self.headers if key == name.lower())

    @property
    def media_type(self) -> str:
        values = self.header("content-type")
        return values[0].partition(";")[0].strip().lower() if values else ""

    @property
    def is_stream(self) -> bool:
        return self.media_type == "text/event-stream"

    def json(self) -> Json:
        """The body as JSON. Raises ValueError when it is none (NaN and lone bytes included)."""
        return parse_json(self.body)
