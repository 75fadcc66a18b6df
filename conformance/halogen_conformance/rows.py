"""The requirements table as the run sees it: events for the stream, levels, choices by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from halogen_conformance.events import RequirementListed
from halogen_conformance.requirements import load
from halogen_conformance.verdict import Level


class UnknownRequirement(ValueError):
    """An id or group that the table does not have; the message says which."""


@cache
def rows() -> tuple[RequirementListed, ...]:
    """Every row, in the order of the table."""
    return tuple(
        RequirementListed(
            id=row.id,
            level=row.level,
            group=row.group,
            sentence=row.sentence,
            x3=row.is_x3,
            excluded=row.excluded,
        )
        for row in load().rows
    )


@cache
def levels() -> Mapping[str, Level]:
    """Each id with its level."""
    return {row.id: row.level for row in rows()}


def chosen(words: Iterable[str]) -> frozenset[str]:
    """The ids meant by these words: an id (`FROM-2`) or a whole group (`FROM`), in any case.

    Raises UnknownRequirement for anything else.
    """
    found: set[str] = set()
    for word in words:
        name = word.strip().upper()
        ids = {row.id for row in rows() if name in (row.id, row.group)}
        if not ids:
            groups = ", ".join(dict.fromkeys(row.group for row in rows()))
            raise UnknownRequirement(
                f"there is no requirement or group {word!r}; groups are {groups}"
            )
        found |= ids
    return frozenset(found)
