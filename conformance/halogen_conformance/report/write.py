"""Writing all forms of a report into a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from halogen_conformance.report import html, junit, results, summary
from halogen_conformance.run import Result, Run
from halogen_conformance.verdict import Outcome

STREAM = "events.ndjson"
FORMS: dict[str, Callable[[Run], str]] = {
    "report.html": html.render,
    "junit.xml": junit.render,
    "summary.md": summary.render,
    "results.json": results.render,
}


def save(path: Path, text: str) -> None:
    """Write a text file; a surrogate half that got this far does not stop the report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(text)


def script_name(result: Result) -> str:
    """Where in the folder the script of a requirement is."""
    return f"repro/{result.row.id}.sh"


def _scripts(run: Run) -> dict[str, str]:
    """The curl scripts by file name: the first of each requirement that went wrong."""
    return {
        script_name(result): next(check.repro for check in checks)
        for result in run.results
        if (checks := [c for c in result.checks if c.repro and c.outcome is not Outcome.HELD])
    }


def write(run: Run, folder: Path) -> list[Path]:
    """Write every form; returns the files. Raises OSError if the folder cannot be written."""
    texts = {name: render(run) for name, render in FORMS.items()} | _scripts(run)
    for name, text in texts.items():
        save(folder / name, text)
    return [folder / name for name in texts]
