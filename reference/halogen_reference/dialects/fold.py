"""Folding a run of reply events into whole parts, for answers that are not streamed."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from halogen_reference.reply import (
    CallDelta,
    CallEnd,
    CallStart,
    Finish,
    ReasoningDelta,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
    TokenLogprob,
    Usage,
)


@dataclass(slots=True)
class ReasoningPart:
    """A run of reasoning, whole."""

    text: str = ""


@dataclass(slots=True)
class TextPart:
    """A run of text, whole, with the log probabilities of its tokens when they were asked for."""

    text: str = ""
    logprobs: list[TokenLogprob] = field(default_factory=list)


@dataclass(slots=True)
class CallPart:
    """One tool call; its arguments are the pieces' JSON text, joined."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    complete: bool = False
    """False: the reply was cut inside the call."""

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


Part = ReasoningPart | TextPart | CallPart


@dataclass(slots=True)
class Folded:
    """A whole reply: its parts in the order they came, how it ended, and what it cost."""

    parts: list[Part]
    finish: Finish
    usage: Usage
    stop_string: str | None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def calls(self) -> list[CallPart]:
        return [part for part in self.parts if isinstance(part, CallPart)]

    @property
    def logprobs(self) -> list[TokenLogprob]:
        texts = [part for part in self.parts if isinstance(part, TextPart)]
        return [logprob for part in texts for logprob in part.logprobs]


def fold(events: Iterable[ReplyEvent]) -> Folded:
    """Deltas of one kind in a row are one part. Raises ValueError for a run without an end."""
    parts: list[Part] = []
    for event in events:
        last = parts[-1] if parts else None
        match event:
            case ReasoningDelta(text) if text:
                if not isinstance(last, ReasoningPart):
                    parts.append(last := ReasoningPart())
                last.text += text
            case TextDelta(text, logprobs) if text or logprobs:
                if not isinstance(last, TextPart):
                    parts.append(last := TextPart())
                last.text += text
                last.logprobs.extend(logprobs)
            case CallStart(_, call_id, name):
                parts.append(CallPart(call_id, name))
            case CallDelta(_, arguments) if isinstance(last, CallPart):
                last.pieces.append(arguments)
            case CallEnd() if isinstance(last, CallPart):
                last.complete = True
            case ReplyEnd(finish, usage, _, stop_string):
                return Folded(parts, finish, usage, stop_string)
    raise ValueError("the reply's events stop before its end")
