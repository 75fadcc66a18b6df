"""What every route's driver offers, and what a request asks for beyond its conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from halogen_conformance.drivers.conversation import Conversation, Json
from halogen_conformance.drivers.reply import Reply
from halogen_conformance.drivers.spelling import PLAIN, Spelling
from halogen_conformance.drivers.sse import SseEvent

KEEP = "X-Halogen-Keep"
FROM = "X-Halogen-From"

Header = tuple[str, str | bytes]
"""Name and value. Bytes go out as they are; a str is sent as UTF-8."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to answer. The defaults make a short, repeatable reply."""

    model: str = "default"
    max_tokens: int | None = 16
    """None leaves the limit out (Messages requires one and sends 1024 then)."""
    temperature: float | None = 0.0
    seed: int | None = None
    """Chat and, as an extension, Responses; Messages has no seed."""
    stop: tuple[str, ...] = ()
    """Stop strings. Responses has none in its public API; sent as an extension there."""
    stream: bool = False
    n: int = 1
    """Chat only."""
    tool_choice: str | None = None
    """``none``, ``auto``, ``required``, or the name of the tool that must be called."""
    extra: dict[str, Json] = field(default_factory=dict)
    """Further top-level body fields, as they are; they win over everything else."""


DEFAULTS = Options()


class BadOwnRequest(Exception):
    """A request of ours that our own schema refuses: our error, never the target's. The message is
    one line."""


def answering(options: Options, names: Mapping[str, str]) -> dict[str, Json]:
    """The fields of a body that say how to answer. ``names``: field of Options to its name on the
    route; what is not asked for is left out, and so is what the route has no name for."""
    asked = {name: getattr(options, field) for field, name in names.items()}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asked.items()
        if value is not None and value is not False and value != ()
    }


def choosing(options: Options, named: Json) -> dict[str, Json]:
    """``tool_choice`` as the OpenAI routes have it. ``named``: how the one tool is written."""
    if options.tool_choice is None:
        return {}
    word = options.tool_choice in ("none", "auto", "required")
    return {"tool_choice": options.tool_choice if word else named}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, free of any connection. ``route`` is None for hand-made ones.

    ``body`` is a JSON value (None: no body), or bytes to be sent as they are, for odd JSON.
    """

    method: str
    path: str
    headers: tuple[Header, ...] = ()
    body: Json = None
    route: str | None = None
    deliberately_bad: bool = False
    """True for negative tests: the body is not held against the request schema."""

    def plus(self, *headers: Header) -> "Request":
        """The same request with more headers at its end; a repeated name is sent twice."""
        return Request(
            self.method,
            self.path,
            (*self.headers, *headers),
            self.body,
            self.route,
            self.deliberately_bad,
        )


def session_headers(keep: str | None, start: str | None) -> tuple[Header, ...]:
    """The headers of the protocol: ``keep`` after the reply, ``start`` from a kept name."""
    found: list[Header] = []
    if start is not None:
        found.append((FROM, start))
    if keep is not None:
        found.append((KEEP, keep))
    return tuple(found)


class Fold(Protocol):
    """Folds the events of one stream into one reply, noting every breach of their order."""

    def feed(self, event: SseEvent) -> None: ...

    def finish(self) -> Reply:
        """The reply so far. Call it once, when the stream has ended for whatever reason."""
        ...


class Driver(Protocol):
    """One route. Stateless: safe to share between threads."""

    @property
    def route(self) -> str:
        """``chat``, ``messages`` or ``responses``."""
        ...

    @property
    def path(self) -> str: ...

    def request(
        self,
        conversation: Conversation,
        options: Options = DEFAULTS,
        spelling: Spelling = PLAIN,
    ) -> Request:
        """Raises ValueError when the route cannot express the conversation."""
        ...

    def reply(self, body: Json) -> Reply:
        """Read a JSON answer of status 200. Missing pieces become problems, not exceptions."""
        ...

    def fold(self, *, usage_expected: bool = True) -> Fold:
        """A new fold for one stream. ``usage_expected``: a stream without usage is a problem."""
        ...

    def error(self, body: Json) -> Reply:
        """Read the body of a 4xx or 5xx; the wrong error shape becomes a problem."""
        ...
