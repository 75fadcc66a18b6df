"""Reading ``GET /halogen/handles`` of any server: the shape of the list is each server's own."""

from dataclasses import dataclass

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.driver import Request

PATH = "/halogen/handles"
LIST_REQUEST = Request("GET", PATH, route="handles")

_NAME_KEYS = ("name", "handle", "id", "key")
_LIST_KEYS = ("data", "handles", "names", "items")


@dataclass(frozen=True, slots=True)
class Handles:
    """What a server's list says. ``body`` is its JSON."""

    body: Json

    def has(self, name: str) -> bool:
        """The name stands in the list: as any whole string value, or as any key (LIST-1)."""
        names = self.names
        return name in names if names is not None else name in _strings(self.body)

    @property
    def names(self) -> list[str] | None:
        """All listed names in their order, or None when the shape is not understood."""
        rows = _rows(self.body)
        if rows is None:
            return None
        names = [_name(row) for row in rows]
        return None if None in names else [name for name in names if name is not None]

    @property
    def count(self) -> int | None:
        """How many names are listed, or None when the shape is not understood."""
        names = self.names
        return None if names is None else len(names)

    def row(self, name: str) -> dict[str, Json] | None:
        """The entry of a name, if entries are objects."""
        for row in _rows(self.body) or []:
            if isinstance(row, dict) and _name(row) == name:
                return row
        return None


def _rows(body: Json) -> list[Json] | None:
    if isinstance(body, list):
        return body
    if not isinstance(body, dict):
        return None
    for key in _LIST_KEYS:
        found = body.get(key)
        if isinstance(found, list):
            return found
        if isinstance(found, dict):  # name -> details
            return list(found)
    return None


def _name(row: Json) -> str | None:
    if isinstance(row, str):
        return row
    if isinstance(row, dict):
        for key in _NAME_KEYS:
            if isinstance(row.get(key), str):
                return str(row[key])
    return None


def _strings(value: Json) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set(value).union(*(_strings(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_strings(item) for item in value))
    return set()
