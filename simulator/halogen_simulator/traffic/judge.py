"""What came of each request, and whether the protocol allows it."""

from dataclasses import dataclass

from halogen_simulator.traffic import kinds
from halogen_simulator.traffic.hindsight import Placed
from halogen_simulator.traffic.kinds import Kind

OUTCOMES = (kinds.USED, kinds.UNMATCHED, kinds.UNKNOWN)

SLACK = 48
"""Prompt tokens a start may cost beyond the new text: servers that reuse whole blocks of a cache
read the last, incomplete one again."""


@dataclass(frozen=True, slots=True)
class Played:
    """One request and its answer. Counts are in tokens, None where the server gave none."""

    placed: Placed
    status: int | None
    """None: the connection broke."""
    outcomes: tuple[str, ...] = ()
    """Every value of X-Halogen-From."""
    prompt: int | None = None
    cached: int | None = None
    output: int | None = None
    error: str = ""
    """What a reader should know of an answer that is none."""

    @property
    def kind(self) -> Kind:
        return self.placed.kind

    @property
    def outcome(self) -> str:
        """The outcome, ``-`` when none was reported."""
        return ", ".join(self.outcomes) or "-"

    @property
    def cost(self) -> int | None:
        """Prompt tokens really evaluated."""
        if self.prompt is None:
            return None
        return self.prompt - (self.cached or 0)

    @property
    def answered(self) -> bool:
        return self.status == 200 and not self.error


def as_recorded(placed: Placed) -> Played | None:
    """What the recording says came of a request; None when it says nothing."""
    answer = placed.record.answer
    if not isinstance(answer, dict):
        return None
    prompt, cost = answer.get("prompt"), answer.get("cost")
    told = answer.get("outcome")
    return Played(
        placed,
        answer.get("status"),
        tuple(told.split(", ")) if told else (),
        prompt,
        prompt - cost if prompt is not None and cost is not None else None,
        answer.get("output"),
    )


def complaint(played: Played, base: Played | None) -> str | None:
    """What is wrong with an answer; None when nothing is. ``base`` is what came of the request
    whose history it repeats."""
    kind = played.kind
    if kind is kinds.HELLO:
        return None
    if kind is kinds.COUNT and played.status == 404:
        return None  # an offer a server may not make
    if not played.answered:
        return f"not answered: {played.error or f'status {played.status}'}"
    if len(played.outcomes) > 1 or any(one not in OUTCOMES for one in played.outcomes):
        return f"X-Halogen-From is {played.outcome!r}, not one of {', '.join(OUTCOMES)} (FROM-1)"
    if not kind.outcomes:
        return None
    if played.outcomes and played.outcomes[0] not in kind.outcomes:
        right = " or ".join(one for one in OUTCOMES if one in kind.outcomes)
        return f"{played.outcome}, where {right} is right ({kind.why})"
    if not kind.must_be_used and played.outcomes != (kinds.USED,):
        return None
    if not played.outcomes and played.cost is None:
        return "neither X-Halogen-From nor usage: nothing tells what it started from"
    return _too_dear(played, base)


def _too_dear(played: Played, base: Played | None) -> str | None:
    """``used`` is real (FROM-7): only what the history brings anew is read."""
    if base is None or base.prompt is None or played.prompt is None or played.cost is None:
        return None
    known = base.prompt + (base.output or 0 if played.placed.whole else 0)
    new = max(played.prompt - known, 0)
    if played.cost <= new + SLACK:
        return None
    return f"it read {played.cost} of {played.prompt} tokens, where {new} were new (FROM-7)"
