"""Responses input items as conversation items.

An assistant's turn is spread over several input items here: reasoning, messages, function calls.
They are put together again, so that a reply sent back is the one item it was kept as.
"""

from collections.abc import Callable
from dataclasses import replace

from halogen_reference.conversation import (
    Assistant,
    Item,
    System,
    ToolCall,
    ToolResult,
    User,
    canonical_json,
)
from halogen_reference.dialects.content import need_texts, texts
from halogen_reference.dialects.fields import Fields, quote
from halogen_reference.dialects.ids import bare_call_id
from halogen_reference.dialects.responses.namespaces import flat_name
from halogen_reference.dialects.tools import read_call
from halogen_reference.errors import RequestError

_PARTS = {"input_text": "text", "output_text": "text", "text": "text"}
_ASSISTANT_PARTS = {**_PARTS, "refusal": "refusal"}
_REASONING_PARTS = {"reasoning_text": "text", "summary_text": "text", "text": "text"}
_DROPPED = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "tool_search_call",
    "tool_search_output",
    "compaction_trigger",
)
"""Traces of tools on a vendor's servers. What they found is in the message that follows them."""


def read_input(body: Fields) -> list[Item]:
    """The items of ``input``: a string is one user message. Raises RequestError."""
    value = body.data.get("input")
    if isinstance(value, str):
        return [User(value)]
    history = _History()
    for item in body.need_records("input"):
        kind = _kind(item)
        if kind in _READERS:
            _READERS[kind](history, item)
        elif kind not in _DROPPED:
            raise item.fail(
                "type", f"is {quote(kind)}, which this server cannot read; send it as a message."
            )
    return history.whole()


def _kind(item: Fields) -> str:
    """Two types may be left out: a message has a role, a reference nothing but an id."""
    kind = item.text("type")
    if kind is not None:
        return kind
    if item.given("role"):
        return "message"
    return "item_reference" if item.given("id") else item.need_text("type")


class _History:
    """The items so far, and reasoning whose turn has not begun yet."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._reasoning = ""

    def think(self, text: str) -> None:
        self._reasoning += text

    def say(self, text: str) -> None:
        """An assistant's text. After a call without a result it can only be the same turn."""
        last = self._turn()
        if last is not None and last.calls:
            self._items[-1] = self._joined(last, text=last.text + text)
        else:
            self._items.append(self._joined(Assistant(text)))

    def call(self, call: ToolCall) -> None:
        last = self._turn()
        if last is None:
            self._items.append(last := Assistant(""))
        self._items[-1] = self._joined(last, calls=(*last.calls, call))

    def add(self, item: Item) -> None:
        """An item of somebody else ends the assistant's turn."""
        self._flush()
        self._items.append(item)

    def whole(self) -> list[Item]:
        self._flush()
        return self._items

    def _flush(self) -> None:
        if self._reasoning:  # a turn of reasoning alone, or its last words
            self.say("")

    def _turn(self) -> Assistant | None:
        last = self._items[-1] if self._items else None
        return last if isinstance(last, Assistant) else None

    def _joined(
        self, turn: Assistant, text: str | None = None, calls: tuple[ToolCall, ...] | None = None
    ) -> Assistant:
        reasoning = (turn.reasoning or "") + self._reasoning
        self._reasoning = ""
        return replace(
            turn,
            text=turn.text if text is None else text,
            reasoning=reasoning or None,
            calls=turn.calls if calls is None else calls,
        )


def _message(history: _History, item: Fields) -> None:
    role = item.need_one_of("role", ("user", "system", "developer", "assistant"))
    if role == "assistant":
        history.say("".join(need_texts(item, "content", _ASSISTANT_PARTS)))
        return
    text = "\n".join(need_texts(item, "content", _PARTS))
    history.add(User(text) if role == "user" else System(text))


def _reasoning(history: _History, item: Fields) -> None:
    """The reasoning itself where it is there, its summary otherwise."""
    full = texts(item, "content", _REASONING_PARTS)
    history.think("".join(full or texts(item, "summary", _REASONING_PARTS)))


def _function_call(history: _History, item: Fields) -> None:
    name = flat_name(item.text("namespace"), item.need_name("name"))
    history.call(read_call(item.need_text("call_id"), name, item.need_text("arguments")))


def _custom_call(history: _History, item: Fields) -> None:
    """A call whose argument is plain text: that text, as a JSON string."""
    call_id = bare_call_id(item.need_text("call_id"))
    arguments = canonical_json(item.need_text("input"))
    history.call(ToolCall(call_id, item.need_name("name"), arguments))


def _output(history: _History, item: Fields) -> None:
    call_id = bare_call_id(item.need_text("call_id"))
    history.add(ToolResult(call_id, "\n".join(need_texts(item, "output", _PARTS))))


def _reference(history: _History, item: Fields) -> None:
    found = quote(item.need_text("id"))
    raise RequestError(
        404,
        f"Item with id {found} not found: this server stores no responses. "
        "Send the item itself instead of a reference.",
        item.path_of("id"),
    )


_READERS: dict[str, Callable[[_History, Fields], None]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "function_call_output": _output,
    "custom_tool_call": _custom_call,
    "custom_tool_call_output": _output,
    "item_reference": _reference,
}
