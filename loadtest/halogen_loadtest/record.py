"""What is remembered of each exchange: a flat row that travels from worker to master."""

from dataclasses import dataclass, fields
from typing import Any

from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.exchange import Ending
from halogen_loadtest.timing import Timing


@dataclass(frozen=True, slots=True)
class Record:
    """One exchange. Times in seconds; ``at`` is Unix time, the others count from it."""

    at: float
    step: str
    sessions: bool
    """False in the half of a comparison that uses no headers, and for twins."""
    route: str
    status: int
    """0 when no answer came."""
    result: str
    """``answered``, ``wrong`` (by itself; what its twin shows is told apart), ``busy`` (turned
    away), ``refused`` (as it should be), ``left``."""
    outcome: str
    """What X-Halogen-From said; empty when none was asked for."""
    meant: bool
    """Its history went on from what the name it started from held: it should be used."""
    headers: float | None
    """Until the answer's headers: the request has left the queue."""
    first: float | None
    """Until the first piece of the reply (TTFT)."""
    seconds: float
    pieces: int
    gap: float | None
    """Mean time from one piece to the next."""
    widest: float | None
    """The longest of these."""
    prompt: int
    cached: int
    output: int
    group: str
    """Forks with the same mark were begun at once."""
    lane: str
    twin: bool

    @property
    def evaluated(self) -> int:
        """Prompt tokens really read."""
        return self.prompt - self.cached

    def row(self) -> list[Any]:
        """As msgpack and CSV take it, in the order of FIELDS."""
        return [getattr(self, name) for name in FIELDS]


FIELDS = tuple(one.name for one in fields(Record))


def record(
    timing: Timing,
    answer: Answer,
    step: str,
    result: str,
    *,
    sessions: bool,
    asked: bool,
    meant: bool,
    group: str = "",
    lane: str = "",
    twin: bool = False,
) -> Record:
    """The row of an exchange that has ended. ``asked``: it sent a From, or was mapped."""
    exchange, usage = answer.exchange, answer.reply.usage
    gaps = timing.gaps
    return Record(
        at=exchange.at,
        step=step,
        sessions=sessions,
        route=exchange.route or "",
        status=exchange.status or 0,
        result=result,
        outcome=(answer.outcome or "none") if asked and exchange.status else "",
        meant=meant,
        headers=timing.headers if exchange.status else None,
        first=timing.ttft,
        seconds=timing.end,
        pieces=len(timing.pieces),
        gap=sum(gaps) / len(gaps) if gaps else None,
        widest=max(gaps, default=None),
        prompt=usage.prompt if usage else 0,
        cached=usage.cached if usage else 0,
        output=usage.output if usage else 0,
        group=group,
        lane=lane,
        twin=twin,
    )


def result_of(answer: Answer, *, wrong: bool, busy: bool) -> str:
    """The word for how an exchange went."""
    if wrong:
        return "wrong"
    if busy:
        return "busy"
    if answer.exchange.ending is Ending.LEFT:
        return "left"
    return "answered" if answer.ok else "refused"
