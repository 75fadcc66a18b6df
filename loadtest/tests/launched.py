"""Real servers and real load tests as processes, for tests and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halogen_loadtest.target import Target

HOME = Path(__file__).parents[2]
PARTS = ("reference", "simulator", "conformance", "loadtest")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("HALOGEN_")},
    "PYTHONPATH": os.pathsep.join(str(HOME / part) for part in PARTS),
    "COLUMNS": "200",
}
_ADDRESS = re.compile(r"halogen-\w+: on (http://127\.0\.0\.1:\d+)\n")


@dataclass(frozen=True)
class Server:
    """A server that takes connections."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def end(self) -> None:
        """Stop it as an operator would; may be called twice."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(20)


@contextmanager
def simulator(*options: str, **settings: str) -> Iterator[Server]:
    """A simulator on a free port, sessions on unless the settings say otherwise."""
    chosen = {"HALOGEN_FORK": "1", "HALOGEN_KV_POOL_POSITIONS": "400000", **settings}
    process = subprocess.Popen(
        [sys.executable, "-m", "halogen_simulator", "serve", "--port", "0", *options],
        env={**ENVIRONMENT, **chosen},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = _ADDRESS.fullmatch(line)
        assert found, line
        yield Server(found[1], process)
    finally:
        if process.poll() is None:
            process.terminate()
        process.stdout.close()
        process.wait(20)


@dataclass(frozen=True)
class Outcome:
    """What a load test did."""

    code: int
    text: str
    folder: Path

    @property
    def results(self) -> dict[str, Any]:
        """The results.json it wrote."""
        found: dict[str, Any] = json.loads((self.folder / "results.json").read_text("utf-8"))
        return found

    @property
    def broken(self) -> set[str]:
        """The invariants that were broken."""
        rules = self.results["invariants"]
        return {name for name, rule in rules.items() if rule["broken"]}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "halogen_loadtest.cli", *words]


def begin(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Begin a load test, in a process group of its own; what it prints is for `communicate`."""
    return subprocess.Popen(
        command("run", "--report", str(folder), *words),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def load(folder: Path, *words: str, timeout_s: float = 100, **settings: str) -> Outcome:
    """Run a load test to its end; its report goes to the folder."""
    done = subprocess.run(
        command("run", "--report", str(folder), *words),
        env={**ENVIRONMENT, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, folder)


def wait_for_names(url: str) -> None:
    """Until the load test has kept something there."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if Target(url).names().count:
            return
        time.sleep(0.05)
    raise AssertionError("the load test has kept nothing")
