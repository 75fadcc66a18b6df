"""What the engine has done, for ``GET /simulator/state``: each request's cost, and live states."""

from collections import deque
from dataclasses import asdict, dataclass

from halogen_simulator.state import SimState

REMEMBERED = 1000
"""Requests that are remembered, the newest."""


@dataclass(slots=True)
class Record:
    """One reply. Counts are in tokens."""

    request: int
    state: int | None
    """Number of the state it started from."""
    prompt: int
    reused: int
    evaluated: int
    output: int = 0
    finish: str | None = None
    """None while it runs, and for good when it was cancelled or failed."""
    kept: int | None = None
    """Number of the state it left."""


class Ledger:
    """Numbers states and requests from 1."""

    def __init__(self) -> None:
        self.records: deque[Record] = deque(maxlen=REMEMBERED)
        self.states: dict[int, SimState] = {}
        self.requests = 0
        self.evaluated = 0
        """Prompt tokens evaluated in all."""
        self._numbers = 0

    def next_request(self) -> int:
        self.requests += 1
        return self.requests

    def next_state(self) -> int:
        self._numbers += 1
        return self._numbers

    def page(self) -> dict[str, object]:
        """JSON."""
        return {
            "requests": self.requests,
            "evaluated": self.evaluated,
            "states": [
                {
                    "state": state.number,
                    "parent": state.parent,
                    "tokens": len(state.tokens),
                    "resident": state.resident,
                    "references": state.references,
                }
                for state in self.states.values()
            ],
            "replies": [asdict(record) for record in self.records],
        }
