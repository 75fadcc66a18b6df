"""What a server answered, free of any route's JSON."""

import json
from dataclasses import dataclass, replace
from enum import Enum

from halogen_conformance.drivers.conversation import Assistant, Call


class Finish(Enum):
    """Why a reply ended, as far as its route can tell."""

    END = "end"
    """End of turn; on Chat and Responses also a stop string, which they do not tell apart."""
    STOP_STRING = "stop_string"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    FAILED = "failed"
    OTHER = "other"
    """A reason this suite does not know; ``Reply.finish_word`` has it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts in one meaning for all routes.

    ``prompt`` is the whole history; ``cached`` the part of it that was not evaluated again.
    """

    prompt: int
    cached: int
    output: int

    @property
    def cost(self) -> int:
        """Prompt tokens really evaluated (FROM-7)."""
        return self.prompt - self.cached


@dataclass(frozen=True, slots=True)
class Problem:
    """A breach of the route's wire format: where in the answer, and what is wrong with it."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class WireError:
    """An error the server reported, by status or inside a stream."""

    type: str
    message: str
    code: str | None = None
    in_band: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. Other choices of an ``n`` > 1 request are in ``others``, in index order."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish | None = None
    """None when the answer ended without saying why (cut short, or an error)."""
    finish_word: str | None = None
    """The route's own word for it."""
    stop_sequence: str | None = None
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    error: WireError | None = None
    others: tuple["Reply", ...] = ()
    problems: tuple[Problem, ...] = ()

    def turn(self, *, reasoning: bool = False) -> Assistant:
        """This reply as the assistant turn a client sends back, verbatim (FROM-9).

        Reasoning is left out unless asked for: clients differ in this (FROM-12).
        """
        return Assistant(self.text, self.calls, (self.reasoning or None) if reasoning else None)

    def with_problems(self, *problems: Problem) -> "Reply":
        return replace(self, problems=(*self.problems, *problems))

    def same_as(self, other: "Reply") -> bool:
        """Equal to a twin's reply in all that must not depend on the headers (FROM-6).

        Ids differ by nature, and so does the cached count; call ids are not compared either.
        """
        return self.fingerprint() == other.fingerprint()

    def fingerprint(self) -> tuple[object, ...]:
        """Text, reasoning, calls without ids, finish, stop string and whole prompt size."""
        return (
            self.text,
            self.reasoning,
            tuple((call.name, _one_spelling(call.arguments)) for call in self.calls),
            self.finish,
            self.stop_sequence,
            self.usage.prompt if self.usage else None,
        )


def _one_spelling(arguments: str) -> str:
    """Arguments compare as values: Messages has them as an object, streamed or not as text."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
