"""`halogen-conformance matrix`: run the trials, show them as they come, write the page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from halogen_conformance.console import terminal
from halogen_conformance.interrupt import ended_politely
from halogen_conformance.matrix.children import Children
from halogen_conformance.matrix.fault import Fault, NoSimulator, faults_of
from halogen_conformance.matrix.judge import Fate, Judged, Verdicts, judge
from halogen_conformance.matrix.page import render
from halogen_conformance.matrix.trial import Trial, run_trial, save, saved
from halogen_conformance.requirements import load
from halogen_conformance.verdict import Exit

_COLOURS = {Fate.KILLED: "green", Fate.SURVIVED: "red", Fate.BROKE_US: "red"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to try. ``simulator``: its command, without sub-command."""

    simulator: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    """Only these; all when empty."""
    quick: bool = False
    """Try with each fault only the rows it names: quick, and blind to what falls unnamed."""
    jobs: int = 1
    page: str = ""
    missing: bool = False
    """Only those of which no trial is in the folder: goes on where a run was ended."""
    trials: str = ""
    """A folder that trials are written to; those of faults that are not tried now are taken from
    there."""


def default_simulator() -> tuple[str, ...]:
    """The installed command; else the package of this environment, also run as a command."""
    found = shutil.which("halogen-simulator")
    return (found,) if found else (sys.executable, "-m", "halogen_simulator")


def run_matrix(wanted: Wanted) -> int:
    """Run it; the exit code is 0 when nothing is red, 2 for a fault nobody knows and a command that
    is none, 4 when the simulator does not list its faults or somebody ends the run."""
    console, table = terminal(), load()
    simulator = wanted.simulator or default_simulator()
    if shutil.which(simulator[0]) is None:
        return _say(f"there is no command {simulator[0]!r}; check the words after --", Exit.USAGE)
    try:
        known = faults_of(simulator, frozenset(table.ids))
    except NoSimulator as error:
        return _say(str(error), Exit.OUR_ERROR)
    if strange := set(wanted.faults) - {fault.id for fault in known}:
        names = ", ".join(sorted(strange))
        listed = "'halogen-simulator faults' lists them"
        return _say(f"there is no fault {names}; {listed}", Exit.USAGE)
    found = saved(Path(wanted.trials)) if wanted.trials else {}
    chosen = [
        fault
        for fault in known
        if not (wanted.missing and fault.id in found)
        and (not wanted.faults or fault.id in wanted.faults)
    ]
    try:
        with ended_politely():
            tried = found | _try_all(console, simulator, chosen, wanted, clean="" not in found)
    except KeyboardInterrupt:
        kept = f"; what was tried is in {wanted.trials}, --missing goes on" if wanted.trials else ""
        return _say(f"interrupted{kept}", Exit.OUR_ERROR)
    clean = tried.pop("")
    judged = [judge(fault, tried[fault.id], table) for fault in known if fault.id in tried]
    whole = len(judged) == len(known)
    verdicts = Verdicts(table, clean, judged, whole=whole, quick=wanted.quick)
    _show(console, verdicts)
    if wanted.page:
        if not whole:
            why = f"{wanted.page} is only written when all faults are tried"
            return _say(why, Exit.USAGE)
        Path(wanted.page).write_text(render(verdicts), "utf-8")
        console.print(f"Wrote {wanted.page}", soft_wrap=True)
    return int(Exit.DOES_NOT if verdicts.red() else Exit.CONFORMS)


def _say(line: str, code: Exit) -> int:
    print(f"halogen-conformance matrix: {line}", file=sys.stderr)
    return int(code)


def _try_all(
    console: Console, simulator: Sequence[str], chosen: Sequence[Fault], wanted: Wanted, clean: bool
) -> dict[str, Trial]:
    """Trials by fault; that without a fault is called "". ``clean``: it is needed in any case."""
    table, folder = load(), Path(wanted.trials) if wanted.trials else None
    found: dict[str, Trial] = {}
    children = Children()
    named = sorted({row for fault in chosen for row in fault.breaks}) if wanted.quick else ()

    def run(fault: str, only: Sequence[str]) -> Trial:
        trial = run_trial(simulator, fault, children, only=only)
        if folder:
            save(trial, folder)
        return trial

    def without() -> None:
        trial = found[""] = run("", named)
        console.print(f"no fault: exit code {trial.code}, {trial.seconds:.0f} s", highlight=False)

    def one(fault: Fault) -> None:
        found[fault.id] = run(fault.id, fault.breaks if wanted.quick else ())
        _show_one(console, judge(fault, found[fault.id], table))

    with ThreadPoolExecutor(wanted.jobs) as pool:
        try:
            if clean or not (wanted.faults or wanted.missing):
                pool.submit(without)
            list(pool.map(one, chosen))
        except KeyboardInterrupt:
            children.end()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _show_one(console: Console, one: Judged) -> None:
    fell = ", ".join(sorted(one.trial.missed())) if not one.fault.is_floor else ""
    line = Text(f"{one.fate.value:11}", style=_COLOURS[one.fate])
    line.append(f"{one.fault.id:24} {one.fault.aim:10}", style="default")
    line.append(f"{one.trial.seconds:5.0f} s  {fell}", style="default")
    if one.unnamed:
        line.append(f"  unnamed: {', '.join(one.unnamed)}", style="red")
    console.print(line, soft_wrap=True)


def _show(console: Console, verdicts: Verdicts) -> None:
    red = verdicts.red()
    console.print()
    for line in red:
        console.print(Text(line, style="red"), soft_wrap=True)
    killed, must = verdicts.score
    faults = sum(one.fate is Fate.KILLED for one in verdicts.judged)
    share = f"{killed} of {must} MUST requirements have a killer, " if verdicts.whole else ""
    console.print(f"{share}{faults} of {len(verdicts.judged)} faults are killed.", highlight=False)
