"""Typed reading of request JSON: one error message style, and every error names its field.

An explicit ``null`` is the same as an absent field. Types are strict: ``"1"`` is not a number and
``true`` is not an integer. Unknown fields are never looked at, so they are never an error.
"""

from collections.abc import Collection
from typing import cast

from pydantic_core import from_json

from halogen_reference.conversation import canonical_json
from halogen_reference.errors import RequestError, invalid

JsonObject = dict[str, object]

_KINDS: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}
_LONGEST_QUOTE = 40


def read_body(body: bytes) -> "Fields":
    """The request body as an object.

    Raises RequestError 400 for anything else: text that is not JSON or not UTF-8, NaN, lone
    surrogates (they cannot be encoded again), and nesting beyond 200 levels.
    """
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as problem:
        raise invalid(f"The request body is not valid JSON: {problem}.") from None
    if not isinstance(value, dict):
        raise invalid(f"The request body must be a JSON object, not {kind_of(value)}.")
    return Fields(value)


def kind_of(value: object) -> str:
    """What a JSON value is, with its article, for messages."""
    return _KINDS[type(value)]


def quote(text: str) -> str:
    """A client's text inside a message: short, on one line."""
    shown = text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."
    return repr(shown)


def canonical_field(value: object, path: str) -> str:
    """:func:`canonical_json` of a field's value; a RequestError 400 where JSON cannot hold it."""
    try:
        return canonical_json(value)
    except ValueError:  # 1e999 is JSON on the wire and infinity once read
        raise invalid(f"{path} holds a number out of range.", path) from None


class Fields:
    """The fields of one JSON object, and where in the body it stands.

    The readers return None for an absent field and raise RequestError 400 for one of another type
    or outside its range; those named ``need_`` raise it for an absent field too.
    """

    __slots__ = ("data", "path")

    def __init__(self, data: JsonObject, path: str = "") -> None:
        self.data = data
        self.path = path

    def path_of(self, name: str) -> str:
        """The field's place as clients know it: ``messages[2].content``."""
        return f"{self.path}.{name}" if self.path else name

    def given(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.data.get(name) is not None

    def fail(self, name: str, problem: str, code: str | None = None) -> RequestError:
        """The error for a field: ``problem`` follows its path in the message."""
        path = self.path_of(name)
        return invalid(f"{path} {problem}", path, code)

    def _wrong(self, name: str, expected: str) -> RequestError:
        return self.fail(name, f"must be {expected}, not {kind_of(self.data[name])}.")

    def _missing(self, name: str) -> RequestError:
        return self.fail(name, "is required.")

    def text(self, name: str) -> str | None:
        value = self.data.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "a string")
        return value

    def need_text(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise self._missing(name)
        return value

    def need_name(self, name: str) -> str:
        """A required string that is not empty."""
        value = self.need_text(name)
        if not value:
            raise self.fail(name, "must not be empty.")
        return value

    def one_of(self, name: str, allowed: Collection[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in allowed:
            raise self.fail(name, f"must be one of {', '.join(allowed)}, not {quote(value)}.")
        return value

    def need_one_of(self, name: str, allowed: Collection[str]) -> str:
        value = self.one_of(name, allowed)
        if value is None:
            raise self.fail(name, f"is required: one of {', '.join(allowed)}.")
        return value

    def flag(self, name: str) -> bool | None:
        value = self.data.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def integer(self, name: str, low: int, high: int | None = None) -> int | None:
        """JSON has one kind of number: ``5.0`` is the integer 5."""
        value = self.data.get(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        expected = f"an integer of at least {low}"
        if high is not None:
            expected = f"an integer from {low} to {high}"
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(name, expected)
        if value < low or (high is not None and value > high):
            raise self.fail(name, f"must be {expected}.")
        return value

    def need_integer(self, name: str, low: int) -> int:
        value = self.integer(name, low)
        if value is None:
            raise self._missing(name)
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        value = self.data.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, f"a number from {low:g} to {high:g}")
        if not low <= value <= high:
            raise self.fail(name, f"must be a number from {low:g} to {high:g}.")
        return float(value)

    def record(self, name: str) -> "Fields | None":
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return Fields(value, self.path_of(name))

    def need_record(self, name: str) -> "Fields":
        value = self.record(name)
        if value is None:
            raise self._missing(name)
        return value

    def array(self, name: str) -> "list[object] | None":
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self._wrong(name, "an array")
        return cast("list[object]", value)

    def records(self, name: str) -> "list[Fields] | None":
        """An array of objects, each with its index in its path."""
        values = self.array(name)
        if values is None:
            return None
        path = self.path_of(name)
        read = []
        for index, value in enumerate(values):
            place = f"{path}[{index}]"
            if not isinstance(value, dict):
                raise invalid(f"{place} must be an object, not {kind_of(value)}.", place)
            read.append(Fields(value, place))
        return read

    def need_records(self, name: str) -> "list[Fields]":
        """An array of objects with at least one in it."""
        values = self.records(name)
        if values is None:
            raise self._missing(name)
        if not values:
            raise self.fail(name, "must not be empty.")
        return values

    def strings(self, name: str, most: int) -> tuple[str, ...] | None:
        """An array of at most ``most`` strings, none of them empty."""
        values = self.array(name)
        if values is None:
            return None
        if len(values) > most:
            raise self.fail(name, f"must hold at most {most} strings, not {len(values)}.")
        read = []
        for index, value in enumerate(values):
            place = f"{self.path_of(name)}[{index}]"
            if not isinstance(value, str):
                raise invalid(f"{place} must be a string, not {kind_of(value)}.", place)
            if not value:
                raise invalid(f"{place} must not be empty.", place)
            read.append(value)
        return tuple(read)
