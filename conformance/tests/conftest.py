"""How the tests start the command line: a real process, away from the project's folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import halogen_conformance

# What is started in the background ignores Ctrl-C, and so does all that it starts in turn.
signal.signal(signal.SIGINT, signal.default_int_handler)

FAKE = str(Path(__file__).with_name("fake_server.py"))
HOME = str(Path(halogen_conformance.__file__).parent.parent)


@dataclass(frozen=True)
class Cli:
    """Runs `halogen-conformance` in an empty folder of its own."""

    cwd: Path
    fake: str = FAKE
    # The requirements that are enough to try the frame of the suite.
    only: tuple[str, ...] = ("--only", "FROM-5,LIST-1")

    @staticmethod
    def command(*faults: str) -> list[str]:
        """The arguments that let the suite start the fake server with these faults."""
        return ["--", sys.executable, FAKE, "{port}", *faults]

    @property
    def environment(self) -> dict[str, str]:
        """Ours without settings meant for servers."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("HALOGEN_")}
        return kept | {"PYTHONPATH": HOME}

    def __call__(
        self, *words: str, module: str = "halogen_conformance.cli", **more: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            cwd=self.cwd,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def results(self, folder: str = "out") -> dict[str, Any]:
        """The results.json of a report."""
        text = (self.cwd / folder / "results.json").read_text(encoding="utf-8")
        data: dict[str, Any] = json.loads(text)
        return data

    def verdicts(self, *ids: str) -> list[str]:
        """The verdicts of these requirements in the report `out`."""
        found = {row["id"]: row["verdict"] for row in self.results()["requirements"]}
        return [found[rid] for rid in ids]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line, run in this test's own folder."""
    return Cli(tmp_path)
