"""The baseline: failures that are known, each with the reason why it is still there.

```toml
[[known]]
id = "FROM-10"
reason = "our routes do not share names yet, see ticket 12"
```

A known failure does not turn a run red. An entry whose requirement passes does: a list of
known failures that nobody clears away hides the next one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from halogen_conformance.events import KnownListed
from halogen_conformance.verdict import Level


class BaselineError(ValueError):
    """The baseline file cannot be used; the message says why and what to change."""


def _entry(number: int, row: Any, levels: Mapping[str, Level]) -> KnownListed:
    where = f"entry {number}"
    if not isinstance(row, dict):
        raise BaselineError(f"{where} is not a table; write [[known]] with id and reason")
    if extra := sorted(set(row) - {"id", "reason"}):
        raise BaselineError(f"{where} has unknown keys: {', '.join(extra)} (only id and reason)")
    rid, reason = row.get("id"), row.get("reason")
    if not isinstance(rid, str) or rid not in levels:
        raise BaselineError(
            f"{where}: there is no requirement {rid!r}; see halogen-conformance list"
        )
    if levels[rid] is Level.OURS:
        raise BaselineError(f"{where}: {rid} is only reported and cannot fail; remove the entry")
    if not isinstance(reason, str) or not reason.strip():
        raise BaselineError(f"{where} ({rid}) needs a reason that a reader can follow")
    return KnownListed(rid, reason.strip())


def parse(text: str, levels: Mapping[str, Level]) -> tuple[KnownListed, ...]:
    """The entries of a baseline. `levels` holds every requirement id with its level.

    Raises BaselineError for broken TOML, unknown keys or ids, double entries, missing reasons.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BaselineError(f"not TOML: {error}") from None
    if extra := sorted(set(data) - {"known"}):
        raise BaselineError(f"unknown keys: {', '.join(extra)} (only [[known]] entries)")
    rows = data.get("known", [])
    if not isinstance(rows, list):
        raise BaselineError("`known` is not a list of tables; write [[known]], not [known]")
    entries = tuple(_entry(number, row, levels) for number, row in enumerate(rows, 1))
    _refuse_doubles(entry.id for entry in entries)
    return entries


def _refuse_doubles(ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for rid in ids:
        if rid in seen:
            raise BaselineError(f"{rid} is listed twice; keep one entry")
        seen.add(rid)


def load(path: Path, levels: Mapping[str, Level]) -> tuple[KnownListed, ...]:
    """`parse` for a file; raises BaselineError, also if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path}: cannot be read: {error}") from None
    try:
        return parse(text, levels)
    except BaselineError as error:
        raise BaselineError(f"{path}: {error}") from None
