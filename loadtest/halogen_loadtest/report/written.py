"""Write the reports of a run into a folder."""

import csv
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from halogen_loadtest.record import FIELDS
from halogen_loadtest.report.page import render
from halogen_loadtest.result import Result
from halogen_loadtest.summary import plain

FORMAT = 1


def as_json(result: Result) -> dict[str, Any]:
    """Everything but the single exchanges, which are in the CSV file. Times in seconds."""
    return {
        "format": FORMAT,
        "target": result.target,
        "scenario": result.settings.scenario,
        "settings": asdict(result.settings),
        "users": result.users,
        "began": result.began,
        "seconds": result.seconds,
        "exit_code": int(result.verdict.code),
        "reasons": list(result.verdict.reasons),
        "notes": list(result.notes),
        "with_sessions": plain(result.with_sessions),
        "without_sessions": plain(result.without),
        "invariants": {
            one.invariant.id: {
                "rows": list(one.invariant.rows),
                "checked": one.checked,
                "broken": one.broken,
                "verdict": one.word,
            }
            for one in result.invariants
        },
        "violations": [one.plain() for one in result.violations],
        "most_open": result.most_open,
        "generator": [asdict(one) for one in result.workers],
        "counts": result.counts,
        "server": [asdict(one) for one in result.gauges],
    }


def write(result: Result, folder: Path) -> None:
    """``report.html``, ``results.json`` and ``exchanges.csv``. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(render(result), encoding="utf-8")
    text = json.dumps(as_json(result), indent=1)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "exchanges.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        table.writerows(one.row() for one in result.records)
    for number, one in enumerate(result.violations, start=1):
        if one.script:
            script = folder / f"repro-{number:02}-{one.invariant}.sh"
            script.write_text(one.script, encoding="utf-8")
