"""The requirements table: loading it, checking it, and its page for people.

``python -m halogen_conformance.requirements`` writes ``conformance/REQUIREMENTS.md`` anew.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from halogen_conformance.target.settings import GROUPS
from halogen_conformance.verdict import Level

ROUTES: dict[str, tuple[str, ...]] = {
    "": (),
    "x3": ("chat", "messages", "responses"),
    "chat": ("chat",),
    "messages": ("messages",),
    "responses": ("responses",),
}
"""The word in the table to the routes a requirement is shown on; none: the tests choose."""

_FIELDS = frozenset(
    {"id", "level", "sentence", "why", "routes", "needs", "tests", "excluded"},
)
_ID = re.compile(r"([A-Z]+)-([1-9][0-9]*)")
_TEST = re.compile(r"test_\w+\.py::test_\w+")


class BadTable(ValueError):
    """The table cannot be read at all: our own error."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row. Either ``tests`` or ``excluded`` is filled in a finished table."""

    id: str
    level: Level
    sentence: str
    why: str
    routes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    """``test_file.py::test_name``, relative to the suite's folder."""
    excluded: str = ""

    @property
    def group(self) -> str:
        return self.id.partition("-")[0]

    @property
    def is_x3(self) -> bool:
        return len(self.routes) == 3


@dataclass(frozen=True, slots=True)
class Table:
    """All rows in their order; ``groups`` maps a group's id to its title."""

    groups: Mapping[str, str]
    rows: tuple[Requirement, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(row.id for row in self.rows)

    def row(self, requirement_id: str) -> Requirement:
        """Raises KeyError, in words for a user, for an id that is not in the table."""
        for row in self.rows:
            if row.id == requirement_id.upper():
                return row
        raise KeyError(f"no requirement is called {requirement_id!r}")

    def of_group(self, group: str) -> tuple[Requirement, ...]:
        return tuple(row for row in self.rows if row.group == group)


@cache
def load() -> Table:
    """The table that comes with the suite. Raises BadTable."""
    return parse(files("halogen_conformance").joinpath("requirements.toml").read_text("utf-8"))


def parse(source: str) -> Table:
    """Read a table. Raises BadTable for bad TOML, unknown fields, levels or routes."""
    try:
        data = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise BadTable(f"requirements table: {error}") from None
    unknown = data.keys() - {"groups", "requirement"}
    if unknown:
        raise BadTable(f"requirements table: unknown top-level entries {sorted(unknown)}")
    rows = tuple(_row(entry) for entry in data.get("requirement", []))
    return Table(dict(data.get("groups", {})), rows)


def _row(entry: Mapping[str, Any]) -> Requirement:
    name = entry.get("id", "a row without id")
    unknown = entry.keys() - _FIELDS
    if unknown:
        raise BadTable(f"{name}: unknown fields {sorted(unknown)}")
    missing = {"id", "level", "sentence", "why"} - entry.keys()
    if missing:
        raise BadTable(f"{name}: missing fields {sorted(missing)}")
    if entry["level"] not in set(Level):
        raise BadTable(f"{name}: unknown level {entry['level']!r}")
    if entry.get("routes", "") not in ROUTES:
        raise BadTable(f"{name}: unknown routes {entry['routes']!r}")
    return Requirement(
        id=entry["id"],
        level=Level(entry["level"]),
        sentence=entry["sentence"],
        why=entry["why"],
        routes=ROUTES[entry.get("routes", "")],
        needs=tuple(entry.get("needs", ())),
        tests=tuple(entry.get("tests", ())),
        excluded=entry.get("excluded", ""),
    )


def problems_of(table: Table) -> list[str]:
    """What is wrong with a table in itself, one line each; a finished table has none."""
    found = [f"{row_id} is there twice" for row_id in _repeated(table.ids)]
    last: dict[str, int] = {}
    for row in table.rows:
        found += _row_problems(row, table, last)
    return found


def _row_problems(row: Requirement, table: Table, last: dict[str, int]) -> list[str]:
    found = []
    match = _ID.fullmatch(row.id)
    if match is None:
        return [f"{row.id!r} is not an id like FROM-2"]
    group, number = match[1], int(match[2])
    if group not in table.groups:
        found.append(f"{row.id}: the group {group} has no title")
    if number <= last.get(group, 0):
        found.append(f"{row.id}: out of order")
    last[group] = max(number, last.get(group, 0))
    found += [
        f"{row.id}: unknown settings group {need!r}" for need in row.needs if need not in GROUPS
    ]
    if not row.needs:
        found.append(f"{row.id}: needs no settings group at all")
    found += [
        f"{row.id}: {test!r} is not file.py::test"
        for test in row.tests
        if not _TEST.fullmatch(test)
    ]
    found += [f"{row.id}: the test {test} is there twice" for test in _repeated(row.tests)]
    if not row.sentence.endswith(".") or not row.why.endswith("."):
        found.append(f"{row.id}: sentence and why end with a full stop")
    if row.tests and row.excluded:
        found.append(f"{row.id}: has tests and is excluded; it can only be one")
    return found


def untested(table: Table) -> list[str]:
    """Ids of rows with neither tests nor a reason for having none."""
    return [row.id for row in table.rows if not row.tests and not row.excluded]


def mismatches(table: Table, marks: Mapping[str, Iterable[str]]) -> list[str]:
    """Where the table and the suite's own marks disagree, one line each.

    ``marks``: each test of the suite (``file.py::test``) to the ids it says it speaks about.
    """
    known = set(table.ids)
    listed = {(row.id, test) for row in table.rows for test in row.tests}
    marked = {(row_id, test) for test, ids in marks.items() for row_id in ids}
    found = [f"{test} names the unknown id {row}" for row, test in marked if row not in known]
    found += [
        f"{row}: lists {test}, which {'does not name it' if test in marks else 'does not exist'}"
        for row, test in listed - marked
    ]
    found += [f"{row}: does not list {test}" for row, test in marked - listed if row in known]
    found += [f"{test} names no requirement" for test, ids in marks.items() if not list(ids)]
    return sorted(found)


def _repeated(words: Iterable[str]) -> list[str]:
    return [word for word, times in Counter(words).items() if times > 1]


_HEAD = """\
<!-- Made from halogen_conformance/requirements.toml by
     python -m halogen_conformance.requirements: change the table, not this page. -->
# What a server is held to

**MUST** follows from the protocol's text; a miss fails the server. **SHOULD** is what users need
where the text is silent; a miss is a warning. **OURS** is how the reference does it; the suite
reports what it saw and fails nobody.

A *name* is the value of `X-Halogen-Keep` or `X-Halogen-From`. The *history* is all of a request
that becomes prompt. The *outcome* is the response header `X-Halogen-From`. The *twin* is the same
body without the headers on a server that holds nothing. *Cost* is the prompt tokens really
evaluated: prompt minus cached, from `usage`. Routes *x3*: `/v1/chat/completions`, `/v1/messages`
and `/v1/responses`, streaming and not.
"""


def render_page(table: Table) -> str:
    """The text of REQUIREMENTS.md."""
    count = {level: sum(row.level is level for row in table.rows) for level in Level}
    total = ", ".join(f"{number} {level.value}" for level, number in count.items())
    parts = [_HEAD, f"{len(table.rows)} requirements: {total}.\n"]
    for group, title in table.groups.items():
        lines = [f"## {group}: {title}", ""]
        lines += [
            "| id | level | requirement | why | routes | settings |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_page_row(row) for row in table.of_group(group)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _page_row(row: Requirement) -> str:
    routes = "x3" if row.is_x3 else ", ".join(row.routes)
    sentence = row.sentence + (f" *Not tested: {row.excluded}*" if row.excluded else "")
    cells = [row.id, row.level.value, sentence, row.why, routes, ", ".join(row.needs)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    """Write the page beside the package's folder."""
    page = Path(__file__).resolve().parents[1] / "REQUIREMENTS.md"
    page.write_text(render_page(load()), "utf-8")
    print(f"wrote {page.name}: {len(load().rows)} requirements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
