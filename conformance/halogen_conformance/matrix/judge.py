"""What the trials say about the suite: which faults it kills, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from halogen_conformance.matrix.fault import Fault
from halogen_conformance.matrix.trial import Trial
from halogen_conformance.requirements import Table
from halogen_conformance.verdict import Exit, Level


class Fate(Enum):
    """What became of a fault."""

    KILLED = "killed"
    """The row it is made for was missed, or blocked by another that it names."""
    SURVIVED = "survived"
    BROKE_US = "no verdict"
    """The suite came to no verdict: its own error, or no end."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One fault after its trial. ``unnamed``: rows that fell and that the fault does not name."""

    fault: Fault
    trial: Trial
    fate: Fate
    unnamed: tuple[str, ...] = ()

    @property
    def is_red(self) -> bool:
        return self.fate is not Fate.KILLED or bool(self.unnamed)

    @property
    def is_missed(self) -> bool:
        """The row it is made for was truly missed. Floors are made for no row."""
        return not self.fault.is_floor and self.fault.aim in self.trial.missed()


def judge(fault: Fault, trial: Trial, table: Table) -> Judged:
    """Hold one trial against what its fault says it breaks.

    A row that the fault names is noticed when it is missed and when it is BLOCKED: a mistake may
    break so much that its own test never gets to its question. A row that is not named falls only
    when it is missed: a BLOCKED one says itself that something else fell. A row of level OURS says
    nothing about other servers, so it may differ as it likes.
    """
    missed = trial.missed()
    # Rows that are only reported make no verdict, and still say what was seen.
    nothing = trial.code == int(Exit.NOTHING_TESTED) and not missed
    if nothing or trial.code in (None, int(Exit.OUR_ERROR), int(Exit.USAGE)):
        return Judged(fault, trial, Fate.BROKE_US)
    if fault.is_floor:
        does_not = trial.code in (int(Exit.DOES_NOT), int(Exit.TARGET_LOST))
        return Judged(fault, trial, Fate.KILLED if does_not else Fate.SURVIVED)
    judged = {row.id for row in table.rows if row.level is not Level.OURS}
    unnamed = tuple(row for row in table.ids if row in (missed & judged) - set(fault.breaks))
    # A fault that ends the server is noticed, too; the verdict then is that it died.
    dead = trial.code == int(Exit.TARGET_LOST)
    noticed = fault.aim in missed | trial.blocked()
    fate = Fate.KILLED if noticed or dead else Fate.SURVIVED
    return Judged(fault, trial, fate, unnamed)


def unkilled(judged: Iterable[Judged], table: Table) -> tuple[str, ...]:
    """MUST rows that no fault made for them makes fail: a row that was only blocked has not shown
    that it can fail at all. Excluded rows need no guard."""
    killed = {one.fault.aim for one in judged if one.is_missed}
    return tuple(
        row.id
        for row in table.rows
        if row.level is Level.MUST and not row.excluded and row.id not in killed
    )


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The matrix. ``whole``: all faults were tried. ``quick``: only with the rows they name."""

    table: Table
    clean: Trial
    judged: Sequence[Judged]
    whole: bool = True
    quick: bool = False

    @property
    def without_killer(self) -> tuple[str, ...]:
        return unkilled(self.judged, self.table) if self.whole else ()

    @property
    def clean_falls(self) -> tuple[str, ...]:
        """Rows that fall, or are blocked, on the simulator without any fault."""
        level: Mapping[str, Level] = {row.id: row.level for row in self.table.rows}
        fallen = self.clean.missed() | self.clean.blocked()
        return tuple(row for row in self.table.ids if row in fallen and level[row] != Level.OURS)

    def red(self) -> list[str]:
        """What is wrong, a line each; nothing when the suite proves itself."""
        lines = []
        if self.clean.code != int(Exit.CONFORMS) or self.clean_falls:
            falls = ", ".join(self.clean_falls) or self.clean.trouble
            lines.append(f"without a fault: exit code {self.clean.code}, {falls}")
        for one in self.judged:
            if one.fate is Fate.SURVIVED:
                lines.append(f"{one.fault.id} survived: {one.fault.aim} holds with it")
            elif one.fate is Fate.BROKE_US:
                lines.append(f"{one.fault.id}: no verdict, {one.trial.trouble}")
            for row in one.unnamed:
                tests = ", ".join(one.trial.tests.get(row, ()))
                lines.append(f"{one.fault.id}: {row} falls, which it does not name ({tests})")
        lines += [f"{row} has no killer" for row in self.without_killer]
        return lines

    @property
    def score(self) -> tuple[int, int]:
        """MUST rows with a killer, and MUST rows."""
        must = [row for row in self.table.rows if row.level is Level.MUST and not row.excluded]
        return len(must) - len(unkilled(self.judged, self.table)), len(must)
