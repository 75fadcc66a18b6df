"""`results.json`: the verdicts for programs, without the exchanges (those are in the stream)."""

from __future__ import annotations

import json
from typing import Any

from halogen_conformance.capability import COLUMNS, matrix
from halogen_conformance.events import Check
from halogen_conformance.run import Result, Run, sentence


def _check(check: Check) -> dict[str, Any]:
    return {
        "test": check.test,
        "route": check.route or None,
        "streaming": check.streaming,
        "verdict": check.verdict.value,
        "outcome": check.outcome.value,
        "expected": check.expected,
        "actual": check.actual,
        "reason": check.reason,
        "repro": check.repro,
    }


def _requirement(result: Result) -> dict[str, Any]:
    return {
        "id": result.row.id,
        "level": result.row.level.value,
        "group": result.row.group,
        "sentence": result.row.sentence,
        "verdict": result.verdict.value,
        "why_not": result.why_not or None,
        "known": result.known_reason or None,
        "stale": result.stale,
        "checks": [_check(check) for check in result.checks],
    }


def _matrix(run: Run) -> dict[str, dict[str, dict[str, Any] | None]]:
    columns = [name or "server" for name, _ in COLUMNS]
    return {
        line.group: {
            name: None
            if cell.verdict is None
            else {"verdict": cell.verdict.value, "passed": cell.passed, "total": cell.total}
            for name, cell in zip(columns, line.cells, strict=True)
        }
        for line in matrix(run)
    }


def as_dict(run: Run) -> dict[str, Any]:
    """The content of the file. Keys are added over time, never renamed."""
    started = run.started
    return {
        "format": 1,
        "target": started.target,
        "at": started.at,
        "facts": dict(started.facts),
        "versions": dict(started.versions),
        "seed": started.seed,
        "only": list(started.only),
        "complete": run.complete,
        "conforms": int(run.code) == 0,
        "exit_code": int(run.code),
        "sentence": sentence(run),
        "counts": run.counts,
        "matrix": _matrix(run),
        "requirements": [_requirement(result) for result in run.results],
        "suite_errors": [{"where": one.where, "text": one.text} for one in run.suite_errors],
        "target_lost": run.lost.text if run.lost else None,
    }


def render(run: Run) -> str:
    """The whole file."""
    return json.dumps(as_dict(run), indent=2) + "\n"
