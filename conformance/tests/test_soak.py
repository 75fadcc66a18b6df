"""The long ones: the same verdicts every time, in any order, and from a server that is late."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPEAT = ROOT / "conformance" / "bench" / "repeat.py"
LATE = Path(__file__).with_name("late_server.py")
SIMULATOR = (sys.executable, "-m", "halogen_simulator", "serve", "--token-s", "0.001", "--port")
PARTS = ("reference", "simulator", "conformance")
LATE_S = 3
# What waits for clocks, leaves, restarts, or goes by when an answer comes.
TIMED = "LIFE-1,LIFE-2,LIFE-6,KEEP-5,FROM-1,RESTART-5"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / part) for part in PARTS))


@pytest.mark.parametrize("options", ["", "--workers 4", "--shuffle"])
def test_twenty_runs_say_the_same(options: str) -> None:
    command = [sys.executable, str(REPEAT), "--runs", "20", *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * 3600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_late_server_gets_the_same_verdicts(tmp_path: Path) -> None:
    found = []
    for late in (0, LATE_S):
        folder = tmp_path / f"late-{late}"
        command = [sys.executable, "-m", "halogen_conformance.cli", "check", "--deterministic"]
        command += ["--only", TIMED, "--report", str(folder)]
        command += ["--slow", str(late)] if late else []
        behind = [sys.executable, str(LATE), str(late), "{port}", *SIMULATOR, "{inner}"]
        server = behind if late else [*SIMULATOR, "{port}"]
        done = subprocess.run(
            [*command, "--", *server], capture_output=True, text=True, timeout=7200, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        rows = json.loads((folder / "results.json").read_text("utf-8"))["requirements"]
        found.append({row["id"]: row["verdict"] for row in rows})
    assert found[0] == found[1]
