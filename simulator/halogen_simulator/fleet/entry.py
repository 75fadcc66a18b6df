"""One live name of a simulated server."""

from dataclasses import dataclass

from halogen_simulator.fleet.history import Piece
from halogen_simulator.fleet.memory import Segment


@dataclass(slots=True, eq=False)
class Entry:
    """What a server knows of a name. Times are simulated seconds."""

    name: str
    serial: int
    """Names in the order they were made."""
    parent: str | None
    """The other name it was started from."""
    history: Piece
    segment: Segment
    last_used: float
    users: int = 0
    """Requests that started from it and have not ended."""
    uses: int = 0
    """How often it was kept or started from."""
    live: bool = True

    @property
    def tokens(self) -> int:
        return self.history.total
