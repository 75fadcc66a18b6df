"""What a test wants to say, free of any route's JSON.

A :class:`Conversation` is immutable; every method returns a new one, so tests can fork a
history as often as they like without one branch seeing another's turns.
"""

from dataclasses import dataclass, replace
from typing import Any

Json = Any
"""A decoded JSON value. Wire data is checked by schema, not by static types."""


@dataclass(frozen=True, slots=True)
class System:
    """Instructions. At the head of a conversation or, as Claude Code does, in its middle."""

    text: str


@dataclass(frozen=True, slots=True)
class User:
    """A user turn. Several texts are several blocks of one message, in every spelling."""

    text: str | tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text,) if isinstance(self.text, str) else self.text


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. ``arguments`` is JSON text exactly as it was received or is to be sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """One assistant turn: its text, its tool calls, and reasoning if it is to be sent back."""

    text: str
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered. ``is_error`` exists on the wire of Messages only."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model; ``parameters`` is its JSON schema (an object)."""

    name: str
    description: str
    parameters: dict[str, Json]


Turn = System | User | Assistant | ToolResult


@dataclass(frozen=True, slots=True)
class Conversation:
    """A history. With ``partial`` its last turn, an :class:`Assistant`, is to be continued."""

    turns: tuple[Turn, ...] = ()
    tools: tuple[Tool, ...] = ()
    partial: bool = False

    def plus(self, *turns: Turn) -> "Conversation":
        """This history with more turns at its end, no longer partial."""
        return replace(self, turns=(*self.turns, *turns), partial=False)

    def system(self, text: str) -> "Conversation":
        return self.plus(System(text))

    def user(self, *texts: str) -> "Conversation":
        return self.plus(User(texts[0] if len(texts) == 1 else texts))

    def assistant(
        self, text: str, calls: tuple[Call, ...] = (), reasoning: str | None = None
    ) -> "Conversation":
        return self.plus(Assistant(text, calls, reasoning))

    def result(self, call_id: str, text: str, *, is_error: bool = False) -> "Conversation":
        return self.plus(ToolResult(call_id, text, is_error))

    def branch(self, beginning: str) -> "Conversation":
        """This history with the beginning of a reply as its open end (BRANCH-1 to BRANCH-3)."""
        return replace(self.plus(Assistant(beginning)), partial=True)

    def with_tools(self, *tools: Tool) -> "Conversation":
        return replace(self, tools=tools)

    def cut(self, turns: int) -> "Conversation":
        """The first ``turns`` turns only: a shorter history (FROM-4)."""
        return replace(self, turns=self.turns[:turns], partial=False)

    def swap(self, index: int, turn: Turn) -> "Conversation":
        """The same history with one turn replaced: an edited history (FROM-4)."""
        turns = list(self.turns)
        turns[index] = turn
        return replace(self, turns=tuple(turns))
