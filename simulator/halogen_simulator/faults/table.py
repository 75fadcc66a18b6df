"""All faults by id, and the list as people and programs read it."""

import json
from collections.abc import Iterable, Sequence

from halogen_simulator.faults import (
    access,
    branches,
    disk,
    engine,
    floor,
    headers,
    keeping,
    life,
    matching,
    spelling,
    threads,
)
from halogen_simulator.faults.fault import Fault

_GROUPS = (
    floor,
    headers,
    keeping,
    matching,
    spelling,
    engine,
    branches,
    life,
    disk,
    access,
    threads,
)

FAULTS: dict[str, Fault] = {fault.id: fault for group in _GROUPS for fault in group.FAULTS}
"""By id, in the order of the protocol's groups."""

_MOST_SHOWN = 3
"""Requirements on a line for people."""


def as_text(faults: Iterable[Fault]) -> str:
    """One fault a line: id, what it breaks (the first few), what it does."""
    rows = [(fault.id, _shown(fault.breaks), fault.sentence) for fault in faults]
    widths = [max((len(row[at]) for row in rows), default=0) for at in (0, 1)]
    return "\n".join(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows)


def _shown(rows: Sequence[str]) -> str:
    more = len(rows) - _MOST_SHOWN
    return ", ".join([*rows[:_MOST_SHOWN], *([f"{more} more"] if more > 0 else [])])


def as_json(faults: Iterable[Fault]) -> str:
    """A list of objects."""
    return json.dumps(
        [
            {"id": fault.id, "breaks": list(fault.breaks), "sentence": fault.sentence}
            for fault in faults
        ],
        indent=2,
    )
