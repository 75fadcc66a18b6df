"""Messages as conversation items."""

from collections.abc import Callable, Sequence

from halogen_reference.conversation import Assistant, Item, System, ToolCall, ToolResult, User
from halogen_reference.dialects.content import need_texts, not_text
from halogen_reference.dialects.fields import Fields, canonical_field, kind_of
from halogen_reference.dialects.ids import bare_call_id

TEXT_BLOCKS = {"text": "text"}
_AS_JSON = ("search_result", "tool_reference", "browser_state")
"""Blocks that describe something in fields of their own: the prompt gets their JSON."""


def read_messages(messages: Sequence[Fields]) -> list[Item]:
    """The items of all messages, in order. Raises RequestError 400."""
    return [
        item
        for message in messages
        for item in _ROLES[message.need_one_of("role", _ROLES)](message)
    ]


def _system(message: Fields) -> list[Item]:
    """P10: it stays where it stands."""
    return [System("\n".join(need_texts(message, "content", TEXT_BLOCKS)))]


def _user(message: Fields) -> list[Item]:
    """Texts in a row are one item and each tool result is one, in the order they were sent."""
    items: list[Item] = []
    texts: list[str] = []
    for block in _blocks(message):
        if block.need_text("type") != "tool_result":
            texts.append(_text(block, ("text", "tool_result")))
            continue
        items += _said(texts)
        texts = []
        items.append(_tool_result(block))
    items += _said(texts)
    return items or [User("")]


def _said(texts: list[str]) -> list[Item]:
    text = _joined(texts)
    return [User(text)] if text else []


def _joined(texts: Sequence[str]) -> str:
    """An empty block adds nothing, not even its line."""
    return "\n".join(text for text in texts if text)


def _assistant(message: Fields) -> list[Item]:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for block in _blocks(message):
        kind = block.need_text("type")
        if kind == "tool_use":
            calls.append(_tool_use(block))
        elif kind == "thinking":
            thoughts.append(block.need_text("thinking"))
        elif kind.endswith(("_tool_use", "_tool_result")):  # of a vendor's servers
            texts.append(_as_json(block))
        elif kind != "redacted_thinking":  # nobody but its author can read that
            texts.append(_text(block, ("text", "thinking", "tool_use")))
    return [Assistant("".join(texts), "".join(thoughts) or None, tuple(calls))]


def _blocks(message: Fields) -> list[Fields]:
    """The content's blocks; a string is one text block (FROM-8)."""
    content = message.data.get("content")
    if isinstance(content, str):
        return [Fields({"type": "text", "text": content}, message.path_of("content"))]
    if content is None:
        raise message.fail("content", "is required: a string or an array of blocks.")
    if not isinstance(content, list):
        expected = "a string or an array of blocks"
        raise message.fail("content", f"must be {expected}, not {kind_of(content)}.")
    return message.records("content") or []


def _text(block: Fields, known: Sequence[str]) -> str:
    kind = block.need_text("type")
    if kind == "text":
        return block.need_text("text")
    if kind in _AS_JSON:
        return _as_json(block)
    raise not_text(block, kind, known)


def _as_json(block: Fields) -> str:
    return canonical_field(_without_marks(block.data), block.path)


def _without_marks(value: object) -> object:
    """FROM-8: ``cache_control`` marks come and go."""
    if isinstance(value, dict):
        return {key: _without_marks(v) for key, v in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_without_marks(item) for item in value]
    return value


def _tool_use(block: Fields) -> ToolCall:
    arguments = canonical_field(block.need_record("input").data, block.path_of("input"))
    return ToolCall(bare_call_id(block.need_text("id")), block.need_name("name"), arguments)


def _tool_result(block: Fields) -> ToolResult:
    """``is_error: false`` is the same as leaving it out."""
    call_id = bare_call_id(block.need_text("tool_use_id"))
    given = _blocks(block) if block.given("content") else []
    texts = [_text(part, ("text",)) for part in given]
    return ToolResult(call_id, _joined(texts), block.flag("is_error") or False)


_ROLES: dict[str, Callable[[Fields], list[Item]]] = {
    "system": _system,
    "user": _user,
    "assistant": _assistant,
}
