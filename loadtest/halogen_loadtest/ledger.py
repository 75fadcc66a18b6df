"""All that a run has seen. Each process writes its own; workers send theirs to the master."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import psutil

from halogen_loadtest.judge.violation import Violation
from halogen_loadtest.record import Record

MOST_SHOWN = 8
"""Violations of one invariant that a process keeps whole; the others are only counted."""

MOST_RECORDS = 500_000
"""Exchanges that are kept one by one; beyond, they count in the totals only."""


@dataclass(frozen=True, slots=True)
class Generator:
    """How busy one process of the load test was in one interval of its life."""

    worker: str
    at: float
    cpu: float
    """Per cent of one core."""
    open: int
    """Exchanges under way."""
    memory: int
    """Bytes."""

    def row(self) -> list[Any]:
        return [self.worker, self.at, self.cpu, self.open, self.memory]


@dataclass(frozen=True, slots=True)
class Gauge:
    """What the server said of itself at one moment."""

    at: float
    names: int
    gauges: dict[str, float]


@dataclass(slots=True)
class Ledger:
    """Counts and rows. ``drain`` takes out what is new, ``absorb`` puts a worker's into ours."""

    worker: str = "this process"
    records: list[Record] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    generators: list[Generator] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """``begun``, ``judged``, ``cut`` (by the end of the test), ``iterations``, ``users done``,
    ``dropped`` (arrivals), and ``broken NAME`` for each invariant."""
    open: int = 0
    most_open: int = 0
    _shown: Counter[str] = field(default_factory=Counter)
    _process: psutil.Process = field(default_factory=psutil.Process)

    def begin(self) -> None:
        """An exchange begins."""
        self.counts["begun"] += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)

    def end(self, row: Record | None) -> None:
        """It has ended: judged, or cut by the end of the test (None)."""
        self.open -= 1
        self.counts["cut" if row is None else "judged"] += 1
        if row is not None and len(self.records) < MOST_RECORDS:
            self.records.append(row)

    def broken(self, found: Violation) -> None:
        """A rule did not hold."""
        self.counts[f"broken {found.invariant}"] += 1
        self._shown[found.invariant] += 1
        if self._shown[found.invariant] <= MOST_SHOWN:
            self.violations.append(found)

    def measure(self) -> None:
        """Note how busy this process was since the last call."""
        used = self._process.cpu_percent()
        memory = self._process.memory_info().rss
        self.generators.append(Generator(self.worker, time.time(), used, self.open, memory))

    def drain(self) -> dict[str, Any]:
        """What is new since the last call, as msgpack takes it."""
        data = {
            "records": [one.row() for one in self.records],
            "violations": [one.plain() for one in self.violations],
            "generators": [one.row() for one in self.generators],
            "counts": dict(self.counts),
            "open": self.open,
            "most_open": self.most_open,
        }
        self.records.clear()
        self.violations.clear()
        self.generators.clear()
        self.counts.clear()
        return data

    def absorb(self, data: dict[str, Any], worker: str) -> None:
        """Add what a worker drained."""
        room = MOST_RECORDS - len(self.records)
        self.records += [Record(*row) for row in data["records"][:room]]
        self.generators += [Generator(*row) for row in data["generators"]]
        self.counts.update(data["counts"])
        for plain in data["violations"]:
            found = Violation(**{**plain, "worker": worker})
            self._shown[found.invariant] += 1
            if self._shown[found.invariant] <= MOST_SHOWN:
                self.violations.append(found)
