"""The figures of a run, made from its exchanges: with sessions, and without in a comparison."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from halogen_loadtest.judge.invariants import INVARIANTS, Invariant
from halogen_loadtest.ledger import Generator, Ledger
from halogen_loadtest.percentile import percentile
from halogen_loadtest.record import Record


@dataclass(frozen=True, slots=True)
class Spread:
    """How values lie, in their own unit; None where there were none."""

    p50: float | None
    p95: float | None
    p99: float | None
    most: float | None


def spread(values: Sequence[float]) -> Spread:
    """Of values in any order."""
    ordered = sorted(values)
    p50, p95, p99 = (percentile(ordered, share) for share in (0.5, 0.95, 0.99))
    return Spread(p50, p95, p99, ordered[-1] if ordered else None)


@dataclass(frozen=True, slots=True)
class Figures:
    """One half of a run. Times in seconds. Twins count nowhere but in ``twins``."""

    requests: int
    seconds: float
    """From the first exchange begun to the last ended."""
    results: dict[str, int]
    outcomes: dict[str, int]
    ttft: Spread
    gap: Spread
    """Mean time between pieces, reply by reply."""
    wall: Spread
    """Of the exchanges begun at once: from the first begun to the last ended."""
    prompt: int
    evaluated: int
    output: int
    meant: int
    """Requests whose history went on from what the name they started from held."""
    meant_used: int
    """Those of them that were used."""
    twins: int

    @property
    def used_share(self) -> float | None:
        """Of the requests that should be used; None when there were none."""
        return self.meant_used / self.meant if self.meant else None

    @property
    def saved(self) -> float | None:
        """Share of the prompt tokens that were not read again."""
        return 1 - self.evaluated / self.prompt if self.prompt else None

    @property
    def busy_share(self) -> float:
        """Of all requests."""
        return self.results.get("busy", 0) / self.requests if self.requests else 0.0


def figures(records: Iterable[Record], *, sessions: bool) -> Figures | None:
    """Of one half; None when there were no exchanges in it."""
    every = list(records)
    own = [one for one in every if one.sessions == sessions and not one.twin]
    if not own:
        return None
    began = min(one.at for one in own)
    return Figures(
        requests=len(own),
        seconds=max(one.at + one.seconds for one in own) - began,
        results=dict(Counter(one.result for one in own)),
        outcomes=dict(Counter(one.outcome for one in own if one.outcome)),
        ttft=spread([one.first for one in own if one.first is not None]),
        gap=spread([one.gap for one in own if one.gap is not None]),
        wall=spread([wall_of(group) for group in groups(own).values()]),
        prompt=sum(one.prompt for one in own),
        evaluated=sum(one.evaluated for one in own),
        output=sum(one.output for one in own),
        meant=sum(one.meant for one in own),
        meant_used=sum(one.meant and one.outcome == "used" for one in own),
        twins=sum(one.twin for one in every) if sessions else 0,
    )


def groups(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The exchanges that were begun at once, by their mark."""
    found: dict[str, list[Record]] = defaultdict(list)
    for one in records:
        if one.group and not one.twin:
            found[one.group].append(one)
    return dict(found)


def wall_of(group: Sequence[Record]) -> float:
    """Seconds from the first begun to the last ended."""
    return max(one.at + one.seconds for one in group) - min(one.at for one in group)


@dataclass(frozen=True, slots=True)
class Held:
    """How one invariant did."""

    invariant: Invariant
    checked: int
    broken: int

    @property
    def word(self) -> str:
        if self.broken:
            return "BROKEN" if self.invariant.must else "MISSED"
        return "held" if self.checked else "not tried"


def held(ledger: Ledger) -> list[Held]:
    """All invariants, in the order of the table."""
    counts = ledger.counts
    return [
        Held(one, counts[f"checked {one.id}"], counts[f"broken {one.id}"])
        for one in INVARIANTS.values()
    ]


@dataclass(frozen=True, slots=True)
class Worker:
    """How busy one process of the load test was, in per cent of one core."""

    name: str
    mean: float
    most: float
    memory: int


def workers(generators: Iterable[Generator]) -> list[Worker]:
    """One row a process. The first sample of each covers its start and is left out."""
    rows: dict[str, list[Generator]] = defaultdict(list)
    for one in generators:
        rows[one.worker].append(one)
    found = []
    for number, samples in enumerate(rows.values(), start=1):
        used = [one.cpu for one in samples[1:]] or [one.cpu for one in samples]
        memory = max(one.memory for one in samples)
        found.append(Worker(f"process {number}", sum(used) / len(used), max(used), memory))
    return found


def most_open(generators: Iterable[Generator]) -> int:
    """The most exchanges under way at once, all processes together, as seen twice a second."""
    latest: dict[str, int] = {}
    most = 0
    for one in sorted(generators, key=lambda sample: sample.at):
        latest[one.worker] = one.open
        most = max(most, sum(latest.values()))
    return most


def plain(value: Figures | None) -> dict[str, Any] | None:
    """Figures as JSON takes them, the shares included."""
    if value is None:
        return None
    return {
        **{
            name: getattr(value, name)
            for name in ("requests", "seconds", "results", "outcomes", "twins")
        },
        **{
            f"{name}_s": {key: getattr(getattr(value, name), key) for key in Spread.__slots__}
            for name in ("ttft", "gap", "wall")
        },
        "tokens": {
            "prompt": value.prompt,
            "evaluated": value.evaluated,
            "reused": value.prompt - value.evaluated,
            "output": value.output,
        },
        "used_share": value.used_share,
        "saved_share": value.saved,
        "busy_share": value.busy_share,
    }
