"""The matrix for people: conformance/KILL_MATRIX.md."""

from __future__ import annotations

from halogen_conformance.matrix.judge import Fate, Judged, Verdicts
from halogen_conformance.verdict import Level

_HEAD = """\
<!-- Written by `halogen-conformance matrix`. Run it again instead of changing this page. -->
# Kill matrix

Does the suite notice? The simulator can be told to make one mistake, a *fault*. Each line below is
a run of {run} against the simulator with one fault. A fault is
**killed** when the requirement it is made for is missed, or is *blocked*: its test found that
another requirement it builds on had failed first. Requirements named beside it may fall with it;
one that is missed without being named would be the suite accusing a server of something it did not
do, and is red. Each MUST requirement has a fault with which it is truly missed, not only blocked:
its killer.
"""
_WHOLE = "the whole suite (fuzzing left out)"
_QUICK = "the requirements it names (`--quick`: nothing else could fall)"


def render(verdicts: Verdicts) -> str:
    """The page. It holds no times, so that it changes only when a verdict does."""
    killed, must = verdicts.score
    faults = sum(one.fate is Fate.KILLED for one in verdicts.judged)
    red = verdicts.red()
    parts = [
        _HEAD.format(run=_QUICK if verdicts.quick else _WHOLE),
        f"**{killed} of {must} MUST requirements have a killer; {faults} of "
        f"{len(verdicts.judged)} faults are killed.** "
        + ("Nothing is red." if not red else "Red:")
        + "\n",
    ]
    if red:
        parts.append("\n".join(f"- {line}" for line in red) + "\n")
    parts += [_by_fault(verdicts), _by_requirement(verdicts)]
    return "\n".join(parts)


def _by_fault(verdicts: Verdicts) -> str:
    lines = [
        "## By fault",
        "",
        "| fault | mistake | made for | fate | falls with it | blocked |",
        "|---|---|---|---|---|---|",
    ]
    for one in verdicts.judged:
        fault, missed = one.fault, one.trial.missed()
        aim = f"{fault.aim}" if not fault.is_floor else "everything"
        if not fault.is_floor and fault.aim in one.trial.blocked():
            aim += " (blocked)"
        others = [] if fault.is_floor else [row for row in fault.breaks[1:] if row in missed]
        with_it = ", ".join([*others, *(f"**{row}**" for row in one.unnamed)])
        if fault.is_floor:
            with_it = f"{len(missed)} requirements"
        blocked = one.trial.blocked()
        cells = (fault.id, fault.sentence, aim, _fate(one), with_it, str(len(blocked) or ""))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _fate(one: Judged) -> str:
    return one.fate.value if one.fate is Fate.KILLED else f"**{one.fate.value}**"


def _by_requirement(verdicts: Verdicts) -> str:
    lines = [
        "## By requirement",
        "",
        "| requirement | level | killed with | also falls with |",
        "|---|---|---|---|",
    ]
    aimed = [one for one in verdicts.judged if not one.fault.is_floor]
    for row in verdicts.table.rows:
        own = [one.fault.id for one in aimed if one.fault.aim == row.id and one.is_missed]
        also = [
            one.fault.id
            for one in aimed
            if one.fault.aim != row.id and row.id in one.trial.missed()
        ]
        if row.level is Level.OURS and not own and not also:
            continue
        none = "**none**" if row.level is Level.MUST and not row.excluded else ""
        cells = (row.id, row.level.value, ", ".join(own) or none, ", ".join(also))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
