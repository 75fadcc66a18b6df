"""The text of a message's ``content``: one string, or an array of parts.

The two spellings mean the same (FROM-8), so both become the same list of texts here. Empty parts
add nothing and are left out. Marks such as ``cache_control`` are not part of the meaning.
"""

from collections.abc import Iterable, Mapping

from halogen_reference.dialects.fields import Fields, kind_of, quote
from halogen_reference.errors import RequestError

PartTexts = Mapping[str, str]
"""Part type -> the field that holds its text."""

_MEDIA = ("image", "audio", "video", "file", "document", "container_upload")


def texts(message: Fields, name: str, parts: PartTexts) -> list[str]:
    """The texts of a content field; an absent or null one has none.

    Raises RequestError 400 for anything that is not text.
    """
    content = message.data.get(name)
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        raise message.fail(
            name, f"must be a string or an array of text parts, not {kind_of(content)}."
        )
    found = []
    for part in message.records(name) or ():
        kind = part.need_text("type")
        if kind not in parts:
            raise not_text(part, kind, parts)
        text = part.need_text(parts[kind])
        if text:
            found.append(text)
    return found


def need_texts(message: Fields, name: str, parts: PartTexts) -> list[str]:
    """Like :func:`texts`, for content that must be there."""
    if not message.given(name):
        raise message.fail(name, "is required: a string or an array of text parts.")
    return texts(message, name, parts)


def not_text(part: Fields, kind: str, known: Iterable[str]) -> RequestError:
    """The error for a part this server cannot read."""
    if any(word in kind for word in _MEDIA):
        return part.fail("type", f"is {quote(kind)}, but this server reads text only.")
    return part.fail(
        "type", f"is {quote(kind)}, which is not supported here; use {', '.join(known)}."
    )
