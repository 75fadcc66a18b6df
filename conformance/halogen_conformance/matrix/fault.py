"""The simulator's faults, as its command lists them. It is only ever run as a command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FLOORS = frozenset({"always-200", "always-404", "cosmetic"})
"""Servers that only pretend. Everything may fall there; they must not conform."""
_LIST_S = 60


class NoSimulator(Exception):
    """The simulator cannot be run, or does not say what its faults are; one line."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake, and what it breaks: the row it is made for first, then what falls with it."""

    id: str
    breaks: tuple[str, ...]
    sentence: str

    @property
    def is_floor(self) -> bool:
        return self.id in FLOORS

    @property
    def aim(self) -> str:
        """The row it is made for."""
        return self.breaks[0]


def faults_of(simulator: Sequence[str], known: frozenset[str]) -> tuple[Fault, ...]:
    """All faults of a simulator. ``known``: the ids of the requirements table.

    Raises NoSimulator.
    """
    command = [*simulator, "faults", "--json"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_LIST_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSimulator(f"cannot run {' '.join(command)}: {error}") from None
    if ran.returncode:
        said = (ran.stderr.strip().splitlines() or ["nothing said"])[-1]
        raise NoSimulator(f"{' '.join(command)} ended with {ran.returncode}: {said}")
    try:
        found = tuple(_fault(entry) for entry in json.loads(ran.stdout))
    except (ValueError, KeyError, TypeError) as error:
        raise NoSimulator(f"{' '.join(command)} did not list faults: {error}") from None
    for fault in found:
        if strange := [row for row in fault.breaks if row not in known]:
            raise NoSimulator(f"the fault {fault.id} breaks rows nobody knows: {strange}")
    return found


def _fault(entry: dict[str, Any]) -> Fault:
    breaks = tuple(str(row) for row in entry["breaks"])
    if not breaks:
        raise ValueError(f"{entry['id']} breaks nothing")
    return Fault(str(entry["id"]), breaks, str(entry["sentence"]))
