"""`list` and `explain`: the requirements for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.text import Text

from halogen_conformance.console import terminal
from halogen_conformance.requirements import load
from halogen_conformance.rows import UnknownRequirement, chosen
from halogen_conformance.verdict import Exit

_LEVELS = {
    "MUST": "if it does not hold, the server does not conform",
    "SHOULD": "if it does not hold, the report warns",
    "OURS": "what the reference does; other servers may differ, so it is only reported",
}


def _usage(error: UnknownRequirement) -> int:
    print(f"halogen-conformance: {error}", file=sys.stderr)
    return int(Exit.USAGE)


def show_list(words: Sequence[str]) -> int:
    """Print the rows, all or those meant by ids and groups; returns the exit code."""
    try:
        wanted = chosen(words) if words else None
    except UnknownRequirement as error:
        return _usage(error)
    console = terminal()
    for row in load().rows:
        if wanted is None or row.id in wanted:
            line = Text(f"{row.id:<11}", "bold").append(f"{row.level.value:<7}", "dim")
            console.print(line.append(row.sentence, "default"), soft_wrap=True)
    return int(Exit.CONFORMS)


def show_one(rid: str) -> int:
    """Print everything about one row; returns the exit code."""
    try:
        ids = chosen([rid])
    except UnknownRequirement as error:
        return _usage(error)
    console = terminal()
    for row in load().rows:
        if row.id not in ids:
            continue
        console.print(Text(row.id, "bold"))
        console.print(row.sentence)
        facts = [
            ("level", f"{row.level.value}: {_LEVELS[row.level.value]}"),
            ("why", row.why),
            ("routes", ", ".join(row.routes)),
            ("needs", ", ".join(row.needs)),
            ("tests", ", ".join(row.tests)),
            ("no test", row.excluded),
        ]
        for name, value in facts:
            if value:
                console.print(f"  {name + ':':<8} {value}", soft_wrap=True)
        console.print()
    return int(Exit.CONFORMS)
