"""What is said on every route, whatever its JSON looks like."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Turn = tuple[str, str]
"""A role (system, user, assistant) and its text."""
History = Sequence[Turn]
Json = dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call the model made; ``arguments`` is the JSON text it came as."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Reply:
    """One reply, whatever route it came by. ``finish`` is ``end``, ``length`` or ``calls``."""

    text: str
    finish: str
    prompt: int
    cached: int
    output: int
    calls: tuple[ToolCall, ...] = field(default=())


class Route(Protocol):
    name: str
    path: str

    def body(self, history: History, *, partial: str | None, stream: bool, **extra: Any) -> Json:
        """A request body. ``extra`` fields are named as on Chat Completions."""

    def tools(self, tools: Iterable[Json], choice: str = "auto", *, parallel: bool = True) -> Json:
        """The fields that offer functions, given as ``{"name", "description", "parameters"}``.
        ``choice`` is auto, none, required, or a function's name."""

    def with_results(self, body: Json, reply: Reply, results: Mapping[str, str]) -> Json:
        """The next body: the reply with its calls, and the calls' results by id."""

    def with_text(self, body: Json, text: str) -> Json:
        """The next body: one more message of the user's."""

    def whole(self, body: Json) -> Reply: ...

    def streamed(self, events: Iterable[Json]) -> Reply: ...

    def error(self, body: Json) -> str:
        """The message of an error body. Raises AssertionError when it has another shape."""


def added(body: Json, field: str, *items: Json) -> Json:
    return {**body, field: [*body[field], *items]}


def openai_error(body: Json) -> str:
    assert set(body) == {"error"}, body
    error = body["error"]
    assert set(error) == {"message", "type", "param", "code"}, body
    assert isinstance(error["type"], str) and isinstance(error["message"], str), body
    return str(error["message"])
