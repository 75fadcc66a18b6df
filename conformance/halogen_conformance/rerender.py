"""`report FILE`: a saved event stream shown again, with no server in sight."""

from __future__ import annotations

import sys
from pathlib import Path

from halogen_conformance.console import show, terminal
from halogen_conformance.report.write import write
from halogen_conformance.run import MISSING_START, collect
from halogen_conformance.stream import EventFormatError, read_lines
from halogen_conformance.verdict import Exit


def rerender(file: str, folder: str) -> int:
    """Show the run on the console and write its report into `folder`, if one is named.

    Returns 0 when that worked, whatever the run's verdict was, and 2 when it did not.
    """
    try:
        with Path(file).open(encoding="utf-8") as lines:
            run = collect(read_lines(lines))
        if run.started is MISSING_START:
            raise EventFormatError("this is no events.ndjson of a run: it has no start")
        console = terminal()
        show(console, run, Path(folder) if folder else None)
        if folder:
            write(run, Path(folder))
            console.print(f"Report: {Path(folder) / 'report.html'}", soft_wrap=True)
    except (OSError, UnicodeDecodeError, EventFormatError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"halogen-conformance: {file}: {why}", file=sys.stderr)
        return int(Exit.USAGE)
    return int(Exit.CONFORMS)
