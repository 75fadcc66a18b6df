"""What a route's dialect is to the rest of the server: four functions and two kinds of object.

A dialect turns a request body into a :class:`Request`, and reply events into that route's JSON or
event stream. It knows nothing of sessions, engines and HTTP: bytes in, bytes out. Each dialect is a
module (a package) with these functions in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from halogen_reference.call import Call
from halogen_reference.dialects.failure import ErrorAnswer
from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.model import ModelCheck
from halogen_reference.errors import RequestError
from halogen_reference.reply import ReplyEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A parsed request: the call, and in each dialect's subclass what its answer repeats."""

    call: Call
    user_id: str = ""
    """What the request says of the program that sent it, where the route has a place for it."""


class Stream(Protocol):
    """Turns one request's reply events into bytes of its event stream.

    Each choice's events are fed in their order: ``Admitted`` first, ``ReplyEnd`` last. Every
    return value is whole events, or nothing.
    """

    def feed(self, event: ReplyEvent, choice: int = 0) -> bytes:
        """What one event adds to the stream. ``choice`` is 0 unless the call's ``n`` is more."""

    def keepalive(self) -> bytes:
        """A sign of life in the route's own form; nothing where it would be out of order."""

    def failed(self, message: str) -> bytes:
        """The in-band error. The caller closes the stream after it and does not call ``end``."""

    def end(self) -> bytes:
        """What closes the stream, once every choice has ended."""


R = TypeVar("R", bound=Request)


class Dialect(Protocol[R]):
    """The functions a dialect's module has."""

    def parse(self, body: bytes, *, check_model: ModelCheck | None = None) -> R:
        """Read a request body. Raises RequestError 400, or what ``check_model`` raises."""

    def reply(self, request: R, choices: Sequence[Iterable[ReplyEvent]]) -> JsonObject:
        """The body of an answer that is not streamed, from each choice's whole run of events."""

    def stream(self, request: R) -> Stream:
        """A new event stream for this request."""

    def error(self, error: RequestError, request_id: str = "") -> ErrorAnswer:
        """Status, headers and body of a failed request in the route's shape."""
