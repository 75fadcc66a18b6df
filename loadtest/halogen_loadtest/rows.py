"""Rows of our own in Locust's statistics, which adds them up over all workers.

Locust's figures are milliseconds; rows of type TOKENS hold numbers of tokens in their place.
"""

from locust.env import Environment

from halogen_conformance.drivers.answer import Answer
from halogen_loadtest.wire import Sent

GAPS = "between pieces"
WITHOUT = " (no sessions)"


class Rows:
    """The rows of one step of a scenario."""

    def __init__(self, environment: Environment, step: str, sessions: bool, twin: bool) -> None:
        self._environment = environment
        self._mode = "" if sessions else " (twin)" if twin else WITHOUT
        self.request = step + self._mode
        """The name of the row of the requests themselves."""

    def _fire(self, kind: str, name: str, value: float) -> None:
        self._environment.events.request.fire(  # type: ignore[no-untyped-call]
            request_type=kind,
            name=name,
            response_time=value,
            response_length=0,
            exception=None,
            context={},
        )

    def measure(self, sent: Sent, answer: Answer) -> None:
        """TTFT, the time between pieces, and the tokens of an exchange."""
        if sent.timing.ttft is not None:
            self._fire("TTFT", self.request, sent.timing.ttft * 1000)
        # Straight into the statistics: one event for every token of every stream costs too much.
        for gap in sent.timing.gaps:
            ms = gap * 1000
            self._environment.stats.log_request("GAP", GAPS + self._mode, ms, 0)  # type: ignore[arg-type]
        usage = answer.reply.usage
        if usage is not None:
            self._fire("TOKENS", "evaluated" + self._mode, usage.cost)
            self._fire("TOKENS", "reused" + self._mode, usage.cached)

    def wall(self, seconds: float) -> None:
        """Several exchanges that belong together, from the first begun to the last ended."""
        self._fire("WALL", self.request, seconds * 1000)
