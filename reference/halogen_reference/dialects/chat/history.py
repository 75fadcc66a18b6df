"""Chat Completions messages as conversation items."""

from collections.abc import Callable, Sequence

from halogen_reference.conversation import Assistant, Item, System, ToolCall, ToolResult, User
from halogen_reference.dialects.content import need_texts, texts
from halogen_reference.dialects.fields import Fields
from halogen_reference.dialects.ids import bare_call_id
from halogen_reference.dialects.tools import read_call

_PARTS = {"text": "text"}
_ASSISTANT_PARTS = {"text": "text", "refusal": "refusal"}
_REASONING = ("reasoning_content", "reasoning")
"""Two names servers use for the same extension; the first one present counts."""


def read_messages(messages: Sequence[Fields]) -> list[Item]:
    """One item a message, in order. Raises RequestError 400."""
    return [_ROLES[message.need_one_of("role", _ROLES)](message) for message in messages]


def _system(message: Fields) -> Item:
    return System("\n".join(need_texts(message, "content", _PARTS)))


def _user(message: Fields) -> Item:
    return User("\n".join(need_texts(message, "content", _PARTS)))


def _tool(message: Fields) -> Item:
    call_id = bare_call_id(message.need_text("tool_call_id"))
    return ToolResult(call_id, "\n".join(need_texts(message, "content", _PARTS)))


def _assistant(message: Fields) -> Item:
    if message.given("function_call"):
        raise message.fail("function_call", "is the legacy form of a tool call; use tool_calls.")
    reasonings = [text for name in _REASONING if (text := message.text(name))]
    return Assistant(
        text="".join(texts(message, "content", _ASSISTANT_PARTS)),
        reasoning=reasonings[0] if reasonings else None,
        calls=tuple(_call(call) for call in message.records("tool_calls") or ()),
    )


def _call(call: Fields) -> ToolCall:
    call.one_of("type", ("function",))
    function = call.need_record("function")
    return read_call(
        call.need_text("id"), function.need_name("name"), function.need_text("arguments")
    )


_ROLES: dict[str, Callable[[Fields], Item]] = {
    "system": _system,
    "developer": _system,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
}
