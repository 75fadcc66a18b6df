"""Which outcomes are legal, given what the client knows of the name it starts from."""

import time
from dataclasses import dataclass, field
from enum import Enum

from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Request
from halogen_conformance.drivers.reply import Usage
from halogen_loadtest.target import Facts


class Claim(Enum):
    """What the client knows of the history it sends, and of the name it starts from."""

    TRUE = "the kept history, and more"
    EDITED = "another history than the kept one"
    NEVER = "a name that was never kept"
    UNSURE = "a name that may hold this history or another"


_LEGAL: dict[Claim, frozenset[str]] = {
    Claim.TRUE: frozenset({"used"}),
    Claim.EDITED: frozenset({"unmatched"}),
    Claim.NEVER: frozenset({"unknown"}),
    Claim.UNSURE: frozenset({"used", "unmatched"}),
}
_NEARLY = 0.8
"""Share of the time to live after which a name is not counted on: clocks and queues differ."""


@dataclass(slots=True)
class Kept:
    """A name as the client knows it: the conversation it should hold, reply included."""

    name: str
    history: Conversation
    request: Request | None = None
    """What kept it, with its headers: to repeat it by hand."""
    usage: Usage | None = None
    used_at: float = field(default_factory=time.monotonic)
    sure: bool = True
    """False once a request with this name ended in a way that leaves open what was kept."""

    @property
    def size(self) -> int | None:
        """Tokens of the kept state, as its own answer counted them."""
        return self.usage.prompt + self.usage.output if self.usage else None

    def touch(self) -> None:
        """It was started from just now (LIFE-2)."""
        self.used_at = time.monotonic()


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the answer to one request may be."""

    outcomes: frozenset[str] | None
    """Legal outcomes; None: the header must be absent."""
    kept: Kept | None = None
    """What it starts from, for its cost; None where nothing is known of it."""
    may_be_silent: bool = False
    """No outcome need be said (a mapped thread): the cost alone tells whether it was used."""
    about: str = "outcome-right"
    """The invariant that a wrong outcome breaks."""
    refusal: bool = False
    """The request cannot be answered: it must be refused."""


PLAIN = Expectation(None)
"""A request without session headers."""
REFUSAL = Expectation(None, refusal=True)
"""A request that no server can answer."""


def expect(
    claim: Claim, facts: Facts, kept: Kept | None = None, *, about: str = "outcome-right"
) -> Expectation:
    """What a request that makes this claim may be answered. ``kept``: what its name holds."""
    if kept is not None and not kept.sure and claim is not Claim.NEVER:
        claim = Claim.UNSURE
    outcomes = _LEGAL[claim]
    if _may_be_gone(facts, kept):
        outcomes |= {"unknown"}
    return Expectation(outcomes, kept if claim is Claim.TRUE else None, about=about)


def _may_be_gone(facts: Facts, kept: Kept | None) -> bool:
    """The server may have released the name by its own rules (LIFE-1, LIFE-4)."""
    idle = time.monotonic() - kept.used_at if kept is not None else 0.0
    return facts.crowded or idle > _NEARLY * facts.ttl_s
