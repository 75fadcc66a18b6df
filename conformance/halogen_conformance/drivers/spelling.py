"""How one conversation can be written in several ways that mean the same (FROM-8, BRANCH-6)."""

import json
from dataclasses import dataclass
from typing import Literal

from halogen_conformance.drivers.conversation import Json


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to write a request. Every field changes the bytes and never the meaning.

    Fields a route has no place for are ignored by its driver.
    """

    text: Literal["string", "parts"] = "string"
    """A text as a JSON string, or as a list with one text block."""
    item_type: bool = False
    """Responses: write ``"type": "message"`` on message items."""
    cache_control: Literal["none", "first", "last", "all"] = "none"
    """Messages: which text blocks carry a ``cache_control`` mark (a marked text is a block)."""
    arguments: Literal["given", "reversed", "compact", "spaced"] = "given"
    """Key order and white space of tool-call arguments."""
    false_is_error: bool = False
    """Messages: write ``is_error: false`` on good tool results instead of leaving it out."""
    null_fields: bool = False
    """Chat and Responses: write absent optional fields as explicit nulls."""


PLAIN = Spelling()

VARIANTS: dict[str, tuple[tuple[str, Spelling], ...]] = {
    "chat": (
        ("string", PLAIN),
        ("parts", Spelling(text="parts")),
        ("arguments reversed", Spelling(arguments="reversed")),
        ("arguments spaced", Spelling(arguments="spaced")),
        ("null fields", Spelling(null_fields=True)),
    ),
    "messages": (
        ("string", PLAIN),
        ("parts", Spelling(text="parts")),
        ("mark on the first block", Spelling(cache_control="first")),
        ("mark on the last block", Spelling(cache_control="last")),
        ("marks on all blocks", Spelling(text="parts", cache_control="all")),
        ("arguments reversed", Spelling(arguments="reversed")),
        ("is_error written out", Spelling(false_is_error=True)),
    ),
    "responses": (
        ("string", PLAIN),
        ("parts", Spelling(text="parts")),
        ("string, typed item", Spelling(item_type=True)),
        ("parts, typed item", Spelling(text="parts", item_type=True)),
        ("arguments reversed", Spelling(arguments="reversed")),
        ("arguments compact", Spelling(arguments="compact")),
        ("null fields", Spelling(null_fields=True)),
    ),
}
"""Route to its labelled spellings, the plain one first."""


def respell_arguments(text: str, how: str) -> str:
    """Rewrite JSON text of the same value. Text that is not JSON is left as it is."""
    if how == "given":
        return text
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    if how == "reversed":
        return json.dumps(_reversed(value), ensure_ascii=False)
    separators = (",", ":") if how == "compact" else (" ,  ", " :  ")
    return json.dumps(value, ensure_ascii=False, separators=separators)


def _reversed(value: Json) -> Json:
    """The same value with the keys of every object in the opposite order; arrays keep theirs."""
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_reversed(item) for item in value]
    return value
