"""Scripts: what the simulated model answers to which turn, from a YAML or JSON file."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from halogen_reference import tool_form
from halogen_reference.conversation import Assistant, ToolCall, canonical_json


class ScriptError(Exception):
    """A script that cannot be used; the message is one line for the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a script is matched against."""

    request: int
    """1 for the first request the engine is given, whatever its route."""
    turn: int
    """1 for the first reply of a conversation."""
    role: str
    """Of the last message: ``user``, ``tool``, ``system``."""
    text: str
    """Of the last message."""
    system: str
    headers: Mapping[str, str]
    """The HTTP request's headers, names in lower case."""


@dataclass(slots=True)
class Line:
    """One entry: when it applies, and what happens then."""

    request: int | None = None
    turn: int | None = None
    role: str | None = None
    text: re.Pattern[str] | None = None
    system: re.Pattern[str] | None = None
    headers: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    times: int | None = None
    """It applies so often at most; None: always."""
    answer: Assistant | None = None
    """None: the model's own words."""
    delay_s: float = 0.0
    """Seconds before the first text."""
    fail_after: int | None = None
    """The engine fails once so many pieces of text are out."""
    hang_after: int | None = None
    """Nothing more comes once so many pieces of text are out."""
    busy: bool = False
    """The queue is full: the answer is a 503 (529 on Messages)."""

    @property
    def said(self) -> bytes | None:
        """The whole turn in the engine's text form."""
        return None if self.answer is None else tool_form.turn(self.answer).encode()

    def matches(self, scene: Scene) -> bool:
        patterns = [(self.text, scene.text), (self.system, scene.system)]
        patterns += [(want, scene.headers.get(name, "")) for name, want in self.headers.items()]
        return (
            self.times != 0
            and self.request in (None, scene.request)
            and self.turn in (None, scene.turn)
            and self.role in (None, scene.role)
            and all(want is None or want.search(there) for want, there in patterns)
        )


class Script:
    """Lines in their order: the first that matches is used."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self.lines = list(lines)

    def next(self, scene: Scene) -> Line | None:
        """The line for a turn, used up by one; None when the model speaks for itself."""
        for line in self.lines:
            if line.matches(scene):
                if line.times is not None:
                    line.times -= 1
                return line
        return None


def load(path: Path) -> Script:
    """Read a script. Raises ScriptError."""
    try:
        text = path.read_text("utf-8")
        return parse(_parsed(text, path.suffix))
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"the script {path} cannot be read: {error}") from None
    except ScriptError as error:
        raise ScriptError(f"the script {path} cannot be used: {error}") from None


def parse(value: Any) -> Script:
    """A script from a JSON value: a list of entries, or an object with the list as ``replies``.
    Raises ScriptError."""
    entries = value.get("replies") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise ScriptError("it must be a list of replies, or have one under 'replies'")
    return Script([_line(entry, at) for at, entry in enumerate(entries, start=1)])


def _parsed(text: str, suffix: str) -> Any:
    if suffix == ".json":
        try:
            return json.loads(text)
        except ValueError as error:
            raise ScriptError(f"it is not JSON: {error}") from None
    import yaml  # slow to import, and only scripts need it

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ScriptError(f"it is not YAML: {' '.join(str(error).split())}") from None


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number from 0")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError("a number of seconds from 0")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _pattern(value: Any) -> re.Pattern[str]:
    try:
        return re.compile(_text(value), re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None


def _patterns(value: Any) -> dict[str, re.Pattern[str]]:
    if not isinstance(value, dict):
        raise ValueError("header names with regular expressions")
    return {str(name).lower(): _pattern(pattern) for name, pattern in value.items()}


def _yes(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _calls(value: Any) -> tuple[ToolCall, ...]:
    wrong = ValueError("a list of calls, each with a 'name' and an object of 'arguments'")
    if not isinstance(value, list) or not all(isinstance(call, dict) for call in value):
        raise wrong
    calls = []
    for call in value:
        arguments = call.get("arguments", {})
        if not isinstance(call.get("name"), str) or not isinstance(arguments, dict):
            raise wrong
        calls.append(ToolCall("", call["name"], canonical_json(arguments)))
    return tuple(calls)


_WHEN = {
    "request": _whole,
    "turn": _whole,
    "role": _text,
    "text": _pattern,
    "system": _pattern,
    "headers": _patterns,
}
_THEN = {
    "times": _whole,
    "delay_s": _seconds,
    "fail_after": _whole,
    "hang_after": _whole,
    "busy": _yes,
}
_ANSWER = {"say": _text, "reasoning": _text, "calls": _calls}


def _line(entry: Any, at: int) -> Line:
    if not isinstance(entry, dict):
        raise ScriptError(f"reply {at} must be an object")
    when = entry.get("when", {})
    if not isinstance(when, dict):
        raise ScriptError(f"reply {at}: 'when' must be an object")
    rest = {name: value for name, value in entry.items() if name != "when"}
    known = {**_THEN, **_ANSWER}
    answer = {name: _read(known, name, rest, at) for name in rest if name not in _THEN}
    then = {name: _read(known, name, rest, at) for name in rest if name in _THEN}
    matched = {name: _read(_WHEN, name, when, at) for name in when}
    said = (
        Assistant(answer.get("say", ""), answer.get("reasoning"), answer.get("calls", ()))
        if answer
        else None
    )
    return Line(**matched, **then, answer=said)


def _read(known: Mapping[str, Any], name: str, values: Mapping[str, Any], at: int) -> Any:
    if name not in known:
        raise ScriptError(f"reply {at}: there is no {name!r}; there are {', '.join(known)}")
    try:
        return known[name](values[name])
    except ValueError as error:
        raise ScriptError(f"reply {at}: {name!r} takes {error}") from None
