"""One fan-out: many continuations sent at once, and what they add up to."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.client import Ask, Heard, at_once, cells_used
from bench.workload import STORY, Message, Shape, continuation

_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class FanOut:
    """What a fan-out took: times in seconds, rates in tokens a second."""

    first_p50: float
    first_max: float
    wall: float
    decode: float | None
    """Tokens a second while every reply is being decoded; None when that never was the case."""
    evaluated: int | None
    """Prompt tokens evaluated for all of them; None where the server's usage does not tell."""
    cells: int | None
    """Most KV cells seen in use; None where the server has no such figure."""
    short: int
    """Replies that ended before they had all their tokens."""
    outcomes: tuple[str, ...]


def continuations(
    shape: Shape,
    opening: list[Message],
    reply: str,
    asking: str = STORY,
    *,
    start: str | None = None,
) -> list[Ask]:
    """One history gone on by every client; ``start``: the name to start from."""
    return [
        Ask(continuation(opening, reply, n, asking), shape.tokens, start=start)
        for n in range(shape.clients)
    ]


async def fan_out(url: str, asks: Sequence[Ask], *, metrics: bool) -> FanOut:
    """Send all at once. ``metrics``: the server shows its KV cells."""
    if not metrics:
        return summary(await at_once(url, asks), asks, None)
    watching = asyncio.create_task(_peak(url))
    try:
        heard = await at_once(url, asks)
    finally:
        watching.cancel()
    (cells,) = await asyncio.gather(watching)
    return summary(heard, asks, cells)


def summary(heard: Sequence[Heard], asks: Sequence[Ask], cells: int | None) -> FanOut:
    firsts = [reply.first for reply in heard]
    return FanOut(
        first_p50=median(firsts),
        first_max=max(firsts),
        wall=max(reply.ended for reply in heard) - min(reply.sent for reply in heard),
        decode=decode_rate([reply.pieces for reply in heard]),
        evaluated=sum(reply.evaluated for reply in heard) if heard[0].prompt else None,
        cells=cells,
        short=sum(r.output < a.max_tokens for r, a in zip(heard, asks, strict=True)),
        outcomes=tuple(sorted({reply.outcome for reply in heard if reply.outcome})),
    )


def decode_rate(pieces: Sequence[Sequence[float]]) -> float | None:
    """Tokens a second between the moment the last reply shows its first token and the moment the
    first one shows its last: all of them are decoded then, and nothing else is done."""
    if not all(pieces):
        return None
    start = max(times[0] for times in pieces)
    end = min(times[-1] for times in pieces)
    count = sum(start < time <= end for times in pieces for time in times)
    return count / (end - start) if end > start and count >= len(pieces) else None


async def _peak(url: str) -> int:
    """The most cells in use until it is cancelled."""
    most = 0
    try:
        while True:
            most = max(most, await cells_used(url))
            await asyncio.sleep(_POLL_S)
    except asyncio.CancelledError:
        return most
