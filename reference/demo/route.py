"""What the demo asks and hears, whatever the route."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call the model made."""

    name: str
    arguments: str
    """A JSON object, as the model wrote it."""
    id: str = field(compare=False)
    """The server's own: no two calls share one."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model."""

    name: str
    description: str
    parameters: dict[str, object]
    """A JSON schema."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a history."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    text: str
    call: Call | None = None
    """The call an assistant made, or the one a tool's text is the result of."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. The headers' names are left out where they are None."""

    turns: tuple[Turn, ...]
    max_tokens: int
    start: str | None = None
    """``X-Halogen-From``"""
    keep: str | None = None
    """``X-Halogen-Keep``"""
    partial: bool = False
    """The last turn is the beginning of a reply that is to go on from there."""
    tool: Tool | None = None
    must_call: bool = False
    """The reply must be a call of the tool (``tool_choice``)."""

    @property
    def headers(self) -> dict[str, str]:
        names = {"X-Halogen-From": self.start, "X-Halogen-Keep": self.keep}
        return {header: name for header, name in names.items() if name is not None}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Tokens as the answer's own usage counts them, time in seconds."""

    outcome: str | None
    """The response's ``X-Halogen-From``."""
    text: str
    prompt: int
    evaluated: int
    """Prompt tokens less those the server had already."""
    output: int
    first_token: float
    """From sending the request to the first piece of text or of a call, or to the end of an empty
    reply."""
    call: Call | None = None


class Unanswered(Exception):
    """A stream ended without a whole reply; the message says what is missing."""


class Route(Protocol):
    """One of the server's routes, driven through its vendor's own client library."""

    @property
    def name(self) -> str:
        """As the story and the table name it."""

    def ask(self, url: str, ask: Ask) -> Answer:
        """Send a streaming request and read it to its end. Raises Unanswered and the library's own
        errors."""
