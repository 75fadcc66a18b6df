"""Reads an answer, whole or as it comes, into a reply."""

import json
from dataclasses import dataclass, field

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.driver import Fold
from halogen_conformance.drivers.reply import Reply, WireError
from halogen_conformance.drivers.sse import SseError, SseParser
from halogen_simulator.traffic.recording import MESSAGES_PATH, RESPONSES_PATH

ROUTES = {MESSAGES_PATH: "messages", RESPONSES_PATH: "responses"}
"""Path to the driver that reads its answers."""


_LAST_EVENTS = frozenset(
    {"message_stop", "response.completed", "response.incomplete", "response.failed"}
)


@dataclass(slots=True)
class Reader:
    """``feed`` bytes cut anywhere, then ``finish``. It never raises for what a server sends."""

    route: str | None
    status: int
    fold: Fold | None
    complete: bool = False
    """The whole reply is there, though the connection may not have ended yet."""
    _reply: Reply | None = None
    _parser: SseParser = field(default_factory=SseParser)
    _body: bytearray = field(default_factory=bytearray)
    _broken: str = ""

    def feed(self, piece: bytes) -> None:
        if self.fold is None:
            self._body += piece
            self.complete = self.complete or self._body.rstrip().endswith(b"}")
            return
        try:
            for event in self._parser.feed(piece):
                self.fold.feed(event)
                self.complete = self.complete or event.name in _LAST_EVENTS
        except SseError as error:
            self._broken = str(error)

    def finish(self) -> Reply:
        """The reply, as far as it came. What cannot be read is an error in it."""
        if self._broken:
            return Reply(error=WireError("unreadable", self._broken))
        if self.fold is not None:
            # A fold is to be finished once.
            self._reply = self._reply or self.fold.finish()
            return self._reply
        if self.route is None:
            return Reply()
        driver = DRIVERS[self.route]
        try:
            body = json.loads(self._body)
        except ValueError:
            return Reply(error=WireError("unreadable", "the answer is not JSON"))
        return driver.reply(body) if self.status == 200 else driver.error(body)


def reader_for(path: str, status: int, content_type: str) -> Reader:
    """A reader for an answer to a request for ``path`` (without its query)."""
    route = ROUTES.get(path)
    streamed = route is not None and content_type.startswith("text/event-stream")
    return Reader(route, status, DRIVERS[route].fold() if route and streamed else None)
