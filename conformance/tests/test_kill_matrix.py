"""The real matrix: some faults in every run, all of them in the long tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from halogen_conformance.matrix.fault import Fault, faults_of
from halogen_conformance.requirements import load
from halogen_conformance.verdict import Level

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("reference", "simulator", "conformance")
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
