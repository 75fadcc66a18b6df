"""Is somebody answering HTTP there? One probe, and the patient form of it."""

import time
from collections.abc import Callable
from enum import Enum

from halogen_conformance.drivers.connection import Limits, Origin
from halogen_conformance.drivers.exchange import Ending, Exchange
from halogen_conformance.drivers.handles import LIST_REQUEST
from halogen_conformance.drivers.perform import perform

_POLL_S = 0.05
_GARBAGE_IS_CERTAIN = 3
"""Answers in a row that are not HTTP before the target is given up on."""


class Seen(Enum):
    """What one probe saw."""

    ANSWER = "an HTTP answer"
    BUSY = "status 503"
    NOTHING = "a closed port"
    SILENCE = "an open port without an answer"
    GARBAGE = "an answer that is not HTTP"


_SEEN = {
    Ending.UNREACHABLE: Seen.NOTHING,
    Ending.GARBAGE: Seen.GARBAGE,
    Ending.DIED: Seen.SILENCE,
    Ending.IDLE: Seen.SILENCE,
    Ending.OVERDUE: Seen.SILENCE,
}


def probe(url: str, patience_s: float) -> tuple[Seen, Exchange]:
    """Ask once. Any HTTP status counts as an answer, but 503: a server still loading says so."""
    limits = Limits(connect_s=patience_s, idle_s=patience_s, total_s=patience_s)
    exchange = perform(Origin.parse(url), LIST_REQUEST, limits)
    if exchange.status is not None:
        return (Seen.BUSY if exchange.status == 503 else Seen.ANSWER), exchange
    return _SEEN.get(exchange.ending, Seen.SILENCE), exchange


def wait_ready(url: str, deadline_s: float, check: Callable[[], None]) -> Seen:
    """Probe until an answer, certain garbage or the deadline; return what was seen last.

    ``check`` is called between probes and may raise (the process has ended).
    """
    deadline = time.monotonic() + deadline_s
    seen, garbage = Seen.NOTHING, 0
    while True:
        check()
        left = deadline - time.monotonic()
        if left <= 0:
            return seen
        seen, _ = probe(url, patience_s=min(left, 5.0))
        garbage = garbage + 1 if seen is Seen.GARBAGE else 0
        if seen is Seen.ANSWER:
            # Somebody else may hold the port while our own process has just failed to get it.
            check()
            return seen
        if garbage == _GARBAGE_IS_CERTAIN:
            return seen
        time.sleep(_POLL_S)
