"""The real matrix: some faults in every run, all of them in the long tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from halogen_conformance.matrix.fault import Fault, faults_of
from halogen_conformance.requirements import load
from halogen_conformance.verdict import Level

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("reference", "simulator", "conformance")
PAGE = ROOT / "conformance" / "KILL_MATRIX.md"
SIMULATOR = (sys.executable, "-m", "halogen_simulator")
# One for each kind of look: outcome, list, cap, thread, file, key.
SAMPLE = (
    "never-used",
    "list-hides-newest",
    "cap-one-too-many",
    "map-title-replaces",
    "bearer-only",
)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / part) for part in PARTS))


@pytest.fixture
def faults() -> tuple[Fault, ...]:
    return faults_of(SIMULATOR, frozenset(load().ids))


def matrix(*words: str, limit_s: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halogen_conformance.cli", "matrix", *words, "--", *SIMULATOR]
    return subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)


def test_every_must_has_a_fault_made_for_it(faults: tuple[Fault, ...]) -> None:
    aims = {fault.aim for fault in faults if not fault.is_floor}
    must = {row.id for row in load().rows if row.level is Level.MUST and not row.excluded}
    assert must - aims == set()
    assert len({fault.id for fault in faults}) == len(faults)


def rows_of(page: str, title: str) -> dict[str, list[str]]:
    """A table of the page: first cell to the others."""
    _, _, chapter = page.partition(f"## {title}\n")
    lines = [line for line in chapter.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[1:]]
    return {first.strip(): [cell.strip() for cell in rest] for first, *rest in cells}


def test_the_page_lists_every_fault_as_killed(faults: tuple[Fault, ...]) -> None:
    """Without a run: a fault that was added, re-aimed or renamed since shows here."""
    rows = rows_of(PAGE.read_text("utf-8"), "By fault")
    assert list(rows) == [fault.id for fault in faults]
    for fault in faults:
        sentence, aim, fate, also, _ = rows[fault.id]
        assert (sentence, fate) == (fault.sentence.replace("|", "\\|"), "killed")
        assert aim.removesuffix(" (blocked)") == ("everything" if fault.is_floor else fault.aim)
        if not fault.is_floor:
            assert set(also.split(", ")) - {""} <= set(fault.breaks)


def test_the_page_has_a_killer_for_every_must(faults: tuple[Fault, ...]) -> None:
    page, table = PAGE.read_text("utf-8"), load()
    rows = rows_of(page, "By requirement")
    aims = {fault.id: fault.aim for fault in faults}
    for row in table.rows:
        if row.level is Level.OURS and row.id not in rows:
            continue
        level, killers, _ = rows[row.id]
        assert level == row.level
        named = killers.split(", ") if killers else []
        assert all(aims[killer] == row.id for killer in named)
        assert named or row.level is not Level.MUST or row.excluded
    must = sum(row.level is Level.MUST and not row.excluded for row in table.rows)
    count = len(faults)
    assert f"{must} of {must} MUST requirements have a killer; {count} of {count} faults" in page
    assert "Nothing is red." in page


@pytest.mark.timeout(300)
def test_a_sample_of_the_faults_is_killed() -> None:
    chosen = [word for name in SAMPLE for word in ("--fault", name)]
    done = matrix("--quick", "-j", "2", *chosen, limit_s=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(SAMPLE)} of {len(SAMPLE)} faults are killed." in done.stdout


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_every_fault_is_killed_and_nothing_falls_unnamed() -> None:
    done = matrix("-j", "2", limit_s=6 * 3600)
    assert done.returncode == 0, done.stdout + done.stderr
