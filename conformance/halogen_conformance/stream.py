"""The event stream as text: one JSON object a line (NDJSON).

The key `event` names the type. Readers ignore types and keys they do not know: a newer suite
may say more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

from halogen_conformance.events import (
    Check,
    Event,
    ExchangeSeen,
    KnownListed,
    Note,
    RequirementListed,
    RunFinished,
    RunStarted,
    SuiteError,
    TargetChanged,
    TargetLost,
    TestFinished,
    TestsCollected,
    TestStarted,
)
from halogen_conformance.verdict import Level, Outcome, Verdict


class EventFormatError(ValueError):
    """A line of a saved stream is not an event; the message names the line and the reason."""


_TYPES: Mapping[str, type[Event]] = {
    "run_started": RunStarted,
    "requirement": RequirementListed,
    "known_failure": KnownListed,
    "tests_collected": TestsCollected,
    "test_started": TestStarted,
    "exchange": ExchangeSeen,
    "target": TargetChanged,
    "check": Check,
    "note": Note,
    "suite_error": SuiteError,
    "target_lost": TargetLost,
    "test_finished": TestFinished,
    "run_finished": RunFinished,
}
_NAMES = {cls: name for name, cls in _TYPES.items()}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(item, value))


def _pair_of(*items: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) == len(items)
            and all(check(part) for check, part in zip(items, value, strict=True))
        )

    return holds


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_integer, value.values()))


# One row for each annotation used in `events`: how its JSON form is recognised. Enums are strings
# here; building the value below rejects unknown ones.
_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "str": _text,
    "int": _integer,
    "float": _number,
    "bool": lambda value: isinstance(value, bool),
    "int | None": lambda value: value is None or _integer(value),
    "float | None": lambda value: value is None or _number(value),
    "bool | None": lambda value: value is None or isinstance(value, bool),
    "tuple[str, ...]": _list_of(_text),
    "Pairs": _list_of(_pair_of(_text, _text)),
    "Frames": _list_of(_pair_of(_number, _text)),
    "Mapping[str, int]": _counts,
    "Level": _text,
    "Outcome": _text,
    "Verdict": _text,
}
_ENUMS: Mapping[str, Callable[[str], Any]] = {
    "Level": Level,
    "Outcome": Outcome,
    "Verdict": Verdict,
}


def to_json(event: Event) -> dict[str, Any]:
    """The event as a JSON object; values that are the default are left out to save room."""
    out: dict[str, Any] = {"event": _NAMES[type(event)]}
    values = asdict(event)
    for spec in fields(event):
        value = values[spec.name]
        if spec.default is MISSING or value != spec.default:
            out[spec.name] = value
    return out


def to_line(event: Event) -> str:
    """One line of NDJSON without its line end; pure ASCII, so no byte can break the file."""
    return json.dumps(to_json(event), separators=(",", ":"))


def _thaw(value: Any) -> Any:
    return tuple(_thaw(item) for item in value) if isinstance(value, list) else value


def from_json(data: Any) -> Event | None:
    """The event of one JSON object; None for a type this version does not know.

    Raises EventFormatError if a key is missing or has a value of the wrong shape.
    """
    if not isinstance(data, dict) or not isinstance(data.get("event"), str):
        raise EventFormatError("not an object with an `event` name")
    cls = _TYPES.get(data["event"])
    if cls is None:
        return None
    values: dict[str, Any] = {}
    for spec in fields(cls):
        if spec.name not in data:
            if spec.default is MISSING and spec.default_factory is MISSING:
                raise EventFormatError(f"{data['event']} has no `{spec.name}`")
            continue
        value, kind = data[spec.name], str(spec.type)
        build: Callable[[Any], Any] = _ENUMS.get(kind, _thaw)
        if not _SHAPES[kind](value):
            raise EventFormatError(f"{data['event']}.{spec.name} is not a {kind}")
        try:
            values[spec.name] = build(value)
        except ValueError as error:
            raise EventFormatError(f"{data['event']}.{spec.name}: {error}") from None
    make: Callable[..., Event] = cls
    return make(**values)


def read_lines(lines: Iterable[str]) -> Iterator[Event]:
    """The events of a saved stream.

    A last line that was cut off is left out: a run that was killed can still be rendered.
    Raises EventFormatError for any other line that is not an event.
    """
    held: tuple[int, EventFormatError] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if held is not None:
            raise EventFormatError(f"line {held[0]}: {held[1]}") from held[1]
        try:
            event = from_json(json.loads(line))
        except EventFormatError as error:
            raise EventFormatError(f"line {number}: {error}") from error
        except (ValueError, RecursionError) as error:
            held = (number, EventFormatError(f"not JSON ({error})"))
            continue
        if event is not None:
            yield event
