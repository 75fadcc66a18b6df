"""One trial: the whole suite against the simulator with one fault, in a process of its own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from halogen_conformance.matrix.children import Children, Overdue
from halogen_conformance.target.settings import GOVERNED
from halogen_conformance.verdict import Exit, Outcome

MISSED, BLOCKED = Outcome.MISSED.value, Outcome.BLOCKED.value
_NO_FAULT = "no-fault"
# Replies take a moment, so that some can be left in the middle and some outlive their name.
_SERVE = ("serve", "--port", "{port}", "--token-s", "0.001")


@dataclass(frozen=True, slots=True)
class Trial:
    """What the suite said. ``rows``: id to the outcomes of its checks, without those that held."""

    fault: str
    """Empty: the simulator as it is."""
    code: int | None
    """The suite's exit code; None when it did not come to an end."""
    seconds: float
    rows: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Row to the tests that missed it."""
    trouble: str = ""
    """Why there is no verdict, in one line."""

    def missed(self) -> set[str]:
        return {row for row, outcomes in self.rows.items() if MISSED in outcomes}

    def blocked(self) -> set[str]:
        return {row for row, found in self.rows.items() if BLOCKED in found and MISSED not in found}


def run_trial(
    simulator: Sequence[str],
    fault: str,
    children: Children,
    *,
    only: Sequence[str] = (),
    limit_s: float = 400.0,
) -> Trial:
    """Run the suite, as one of the ``children``. Never raises for what comes of it; raises
    Interrupted when they are told to end."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="halogen-matrix-") as folder:
        command = [sys.executable, "-m", "halogen_conformance.cli", "check", "-n", "1"]
        command += ["--report", folder]
        # The fuzzing judges nothing that counts, and costs as much as all the rest.
        command += ["--no-fuzz", "--deterministic"]
        command += ["--only", ",".join(only)] if only else []
        command += ["--", *simulator, *_SERVE, *(("--fault", fault) if fault else ())]
        kept = {name: text for name, text in os.environ.items() if name not in GOVERNED}
        try:
            code, printed = children.run(command, kept, limit_s)
        except Overdue:
            took = time.monotonic() - begin
            return Trial(fault, None, took, trouble=f"no end after {limit_s:g} s")
        took = time.monotonic() - begin
        try:
            results = json.loads((Path(folder) / "results.json").read_text("utf-8"))
        except (OSError, ValueError):
            said = (printed.strip().splitlines() or ["nothing said"])[-1]
            return Trial(fault, code, took, trouble=f"no results: {said}")
    return read(fault, results, took)


def save(trial: Trial, folder: Path) -> None:
    """Write a trial down. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = asdict(trial) | {"rows": {row: sorted(found) for row, found in trial.rows.items()}}
    path = folder / f"{trial.fault or _NO_FAULT}.json"
    path.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def saved(folder: Path) -> dict[str, Trial]:
    """The trials in a folder, by fault. Raises OSError, ValueError or TypeError for other files."""
    found = {}
    for path in folder.glob("*.json"):
        kept = json.loads(path.read_text("utf-8"))
        kept["rows"] = {row: frozenset(outcomes) for row, outcomes in kept["rows"].items()}
        kept["tests"] = {row: tuple(names) for row, names in kept["tests"].items()}
        found[kept["fault"]] = Trial(**kept)
    return found


def read(fault: str, results: Mapping[str, Any], seconds: float = 0.0) -> Trial:
    """A trial from the suite's results.json."""
    rows: dict[str, frozenset[str]] = {}
    tests: dict[str, tuple[str, ...]] = {}
    for row in results["requirements"]:
        bad = [check for check in row["checks"] if check["outcome"] in (MISSED, BLOCKED)]
        if bad:
            rows[row["id"]] = frozenset(check["outcome"] for check in bad)
            names = dict.fromkeys(check["test"] for check in bad if check["outcome"] == MISSED)
            tests[row["id"]] = tuple(names)
    code, trouble = int(results["exit_code"]), ""
    if code == Exit.OUR_ERROR:
        errors = [f"{one['where']}: {_last_line(one['text'])}" for one in results["suite_errors"]]
        broken = [
            f"{check['test']}: {check['actual']}"
            for row in results["requirements"]
            for check in row["checks"]
            if check["outcome"] == Outcome.BROKEN.value
        ]
        trouble = "; ".join([*errors, *broken][:3]) or "the suite itself went wrong"
    elif code == Exit.TARGET_LOST:
        trouble = str(results["target_lost"])
    elif code == Exit.NOTHING_TESTED:
        trouble = "nothing was tested"
    return Trial(fault, code, seconds, rows, tests, trouble)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
