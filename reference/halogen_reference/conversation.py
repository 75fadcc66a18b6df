"""The canonical conversation: what a request means, whatever route and spelling it came by.

Two conversations are equal when they mean the same (FROM-8): a text given as a string or as one
text block, ``cache_control`` marks and the key order of JSON objects make no difference; a changed
value does. Values are frozen dataclasses, so equality is field by field and hashing is free.
"""

import json
from dataclasses import dataclass, replace

from pydantic_core import from_json


def canonical_json(value: object) -> str:
    """One spelling for one JSON value: keys sorted, no spaces, ``2.0`` written as ``2``.

    Arrays keep their order. Raises ValueError for values JSON cannot hold (NaN, infinities).
    """
    return json.dumps(
        _plain_numbers(value),
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )


def _plain_numbers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    return value


def canonical_arguments(text: str) -> str:
    """A tool call's arguments, as the model wrote them or a client sent them back, canonical.

    No text means no arguments. Text that is not JSON stays what it is, as a JSON string.
    """
    if not text.strip():
        return "{}"
    try:
        return canonical_json(from_json(text, allow_inf_nan=False))
    except ValueError:
        return canonical_json(text)


@dataclass(frozen=True, slots=True)
class System:
    """Instructions. Several in a row are one; one in mid-conversation stays where it is."""

    text: str


@dataclass(frozen=True, slots=True)
class User:
    """What a user said in one turn."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model made. ``arguments`` is canonical JSON (compared as a value, P07)."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """One assistant turn. An empty reply is ``Assistant("")``, never a missing item."""

    text: str
    reasoning: str | None = None
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back for the call with ``call_id``."""

    call_id: str
    text: str
    is_error: bool = False


Item = System | User | Assistant | ToolResult


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool offered to the model. ``parameters`` is its JSON schema as canonical JSON."""

    name: str
    description: str = ""
    parameters: str = "{}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """The history of a request: everything in it that becomes prompt."""

    items: tuple[Item, ...]
    tools: tuple[Tool, ...] = ()

    def plus(self, item: Item) -> "Conversation":
        """This conversation with one more item."""
        return replace(self, items=(*self.items, item))


def conversation(items: list[Item], tools: list[Tool] | None = None) -> Conversation:
    """Build the canonical form: neighbouring system texts merge, empty system texts go, and line
    breaks between a text and its calls, which clients drop and add, are not part of the text (P07).
    """
    merged: list[Item] = []
    for item in items:
        if isinstance(item, System):
            if not item.text:
                continue
            before = merged[-1] if merged else None
            if isinstance(before, System):
                merged[-1] = System(f"{before.text}\n{item.text}")
                continue
        elif isinstance(item, Assistant) and item.calls:
            item = replace(item, text=item.text.rstrip("\n"))
        merged.append(item)
    return Conversation(tuple(merged), tuple(tools or ()))
