"""Reading a server's JSON without trusting its shape, and noting what was wrong with it."""

import json
from dataclasses import dataclass, field

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.reply import Problem, WireError


@dataclass(slots=True)
class Notes:
    """A list of problems being gathered; the same one is noted once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, where: str, what: str) -> None:
        problem = Problem(where, what)
        if problem not in self.found:
            self.found.append(problem)

    def add_unless(self, holds: bool, where: str, what: str) -> bool:
        if not holds:
            self.add(where, what)
        return holds


def parse_json(text: str | bytes) -> Json:
    """Strict JSON. Raises ValueError for everything else, NaN and endless nesting included."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is not JSON")


def mapping(value: Json) -> dict[str, Json]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Json) -> str:
    """The value if it is a string, else the empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Json) -> str | None:
    """The value if it is a string, else None."""
    return value if isinstance(value, str) else None


def count(value: Json) -> int | None:
    """The value if it is a whole number of at least 0 (a bool is none), else None."""
    return value if type(value) is int and value >= 0 else None


def is_json_object(value: str) -> bool:
    """Whether a text is one JSON object, as the arguments of a call must be."""
    try:
        return isinstance(parse_json(value), dict)
    except ValueError:
        return False


def openai_error(body: Json, notes: Notes, *, in_band: bool = False) -> WireError:
    """``{"error": {"message", "type", "param", "code"}}``: Chat and Responses."""
    error = mapping(mapping(body).get("error"))
    where = "error event" if in_band else "error body"
    notes.add_unless(
        isinstance(error.get("message"), str) and isinstance(error.get("type"), str),
        where,
        'not the OpenAI error shape {"error": {"message": ..., "type": ...}}',
    )
    code = error.get("code")
    return WireError(
        text(error.get("type")), text(error.get("message")), text_or_none(code), in_band
    )


def anthropic_error(body: Json, notes: Notes, *, in_band: bool = False) -> WireError:
    """``{"type": "error", "error": {"type", "message"}}``: Messages."""
    error = mapping(mapping(body).get("error"))
    where = "error event" if in_band else "error body"
    notes.add_unless(
        mapping(body).get("type") == "error"
        and isinstance(error.get("message"), str)
        and isinstance(error.get("type"), str),
        where,
        'not the Anthropic error shape {"type": "error", "error": {"type": ..., "message": ...}}',
    )
    return WireError(text(error.get("type")), text(error.get("message")), None, in_band)
