"""What the demo asks and hears, whatever the route."""

from dataclasses import dataclass
from typing import Protocol

MODEL = "default"
"""The reference answers under any name unless HALOGEN_MODEL_ID says otherwise."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a history."""

    role: str
    """``system``, ``user`` or ``assistant``."""
    text: str


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
    """From sending the request to the first text, or to the end of an empty reply."""


class Route(Protocol):
    """One of the server's routes, driven through its vendor's own client library."""

    @property
    def name(self) -> str:
        """As the table shows it."""

    def ask(self, url: str, ask: Ask) -> Answer:
        """Send a streaming request and read it to its end. Raises the library's own errors."""
