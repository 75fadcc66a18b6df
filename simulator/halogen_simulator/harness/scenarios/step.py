"""The parts of a scenario: a request, what came of it, and the point of a conversation it made."""

from dataclasses import dataclass

from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_simulator.harness.program import Cost


@dataclass(frozen=True, slots=True)
class Point:
    """A conversation up to and including a reply."""

    label: str
    history: Conversation
    reply: str
    """The whole text of its last turn, what was sent of it included."""
    name: str | None
    """What its state is kept under; None when it was not kept."""
    held: int | None
    """Tokens of the state: the prompt's and the reply's. None without usage."""

    def then(self, text: str) -> Conversation:
        """The conversation gone on with a user's message."""
        return self.history.user(text)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. ``start`` is the point it goes on from, None for a first one."""

    label: str
    history: Conversation
    start: Point | None = None
    keep: str | None = None
    options: Options | None = None
    """How to answer; None: as the stage says."""


@dataclass(frozen=True, slots=True)
class Step:
    """A request that was answered. ``wrong`` says what should have come of it and did not."""

    label: str
    parent: str | None
    cost: Cost
    wrong: tuple[str, ...] = ()
    twin: bool = False
    """A request without the headers, sent to compare with."""
