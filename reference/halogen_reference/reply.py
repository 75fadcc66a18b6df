"""What the server says back, free of any route's JSON: the dialects' input.

A reply is a run of events in this order: :class:`Admitted`, then any number of
:class:`ReasoningDelta`, :class:`TextDelta` and tool-call events, then one :class:`ReplyEnd`.
A tool call is :class:`CallStart`, :class:`CallDelta` pieces that concatenate to its arguments
(JSON text), :class:`CallEnd`; calls never interleave. A failure after ``Admitted`` is raised as
:class:`ReplyFailed`.
"""

from dataclasses import dataclass
from enum import Enum

from halogen_reference.conversation import Assistant


class Finish(Enum):
    """Why a reply ended."""

    END_OF_TURN = "end_of_turn"
    STOP_STRING = "stop_string"
    LENGTH = "length"
    """The token limit, or a full context."""
    TOOL_CALLS = "tool_calls"
    """The turn ended with at least one complete tool call in it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts. ``prompt`` counts the whole history, ``cached`` the part not evaluated."""

    prompt: int
    cached: int
    output: int
    reasoning: int = 0
    """How many of the output tokens were reasoning."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token and its natural-log probability."""

    token: str
    logprob: float
    bytes: bytes


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of the reply and its likeliest alternatives, likeliest first."""

    chosen: Candidate
    top: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Admitted:
    """The request has its place: the prompt is about to be evaluated, no 4xx or 503 can follow.

    ``usage`` has the prompt count and the cached tokens expected of the kept state; the exact
    figure comes with :class:`ReplyEnd`.
    """

    usage: Usage


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next piece of the reply's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the reply's text, with the log probabilities of its tokens when they were
    asked for."""

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class CallStart:
    """A tool call begins."""

    index: int
    """0, 1, 2 ... within the reply."""
    id: str
    """Random and unique, without a route's prefix."""
    name: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """The next piece of the JSON text of the arguments of call ``index``."""

    index: int
    arguments: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The arguments of call ``index`` are complete."""

    index: int


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The end. What was kept is kept before this event is seen (KEEP-1)."""

    finish: Finish
    usage: Usage
    assistant: Assistant
    """The whole reply as one canonical item, without the part it continued."""
    stop_string: str | None = None


ReplyEvent = Admitted | ReasoningDelta | TextDelta | CallStart | CallDelta | CallEnd | ReplyEnd


class ReplyFailed(Exception):
    """The reply broke off after it was admitted; the message is safe to show to the client."""
