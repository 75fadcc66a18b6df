"""A run that is over, with everything its reports tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from halogen_loadtest.judge.violation import Violation
from halogen_loadtest.ledger import Gauge
from halogen_loadtest.options import Settings
from halogen_loadtest.record import Record
from halogen_loadtest.summary import Figures, Held, Worker
from halogen_loadtest.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Result:
    """Times are Unix seconds. ``phases`` are those that began, each with whether its users sent
    session headers."""

    target: str
    settings: Settings
    users: int
    began: float
    ended: float
    phases: Sequence[tuple[float, bool]]
    verdict: Verdict
    with_sessions: Figures | None
    without: Figures | None
    invariants: Sequence[Held]
    violations: Sequence[Violation] = ()
    workers: Sequence[Worker] = ()
    generators: Sequence[tuple[float, float, int]] = ()
    """When, per cent of a core of all processes together, exchanges under way."""
    most_open: int = 0
    gauges: Sequence[Gauge] = ()
    records: Sequence[Record] = ()
    counts: dict[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    """What a reader should know besides, such as a generator that was too busy."""

    @property
    def seconds(self) -> float:
        return self.ended - self.began
