"""Mistakes with different spellings of one meaning (FROM-8)."""

import json
from collections.abc import Iterator
from typing import Any

from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.wire import Asked, Edit


def _messages(asked: Asked) -> Iterator[dict[str, Any]]:
    body = asked.body if asked.is_reply and isinstance(asked.body, dict) else {}
    for name in ("system", "messages", "input"):
        value = body.get(name)
        for item in value if isinstance(value, list) else []:
            if isinstance(item, dict):
                yield item


def _blocks(asked: Asked) -> Iterator[dict[str, Any]]:
    for message in _messages(asked):
        if "content" not in message:
            yield message
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                yield block


def _marks_count(asked: Asked) -> None:
    for block in _blocks(asked):
        if "cache_control" in block and isinstance(block.get("text"), str):
            block["text"] += " "


def _blocks_count(asked: Asked) -> None:
    for message in _messages(asked):
        content = message.get("content")
        first = content[0] if isinstance(content, list) and content else None
        if message.get("role") == "user" and isinstance(first, dict) and "text" in first:
            first["text"] = f"{first['text']} "


def _key_order_counts(asked: Asked) -> None:
    """Arguments that are not written as this server writes them are another text."""
    for message in _messages(asked):
        for call in message.get("tool_calls") or []:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                function["arguments"] = _odd(function.get("arguments"))
        if message.get("type") == "function_call":
            message["arguments"] = _odd(message.get("arguments"))
    for block in _blocks(asked):
        value = block.get("input")
        if block.get("type") == "tool_use" and isinstance(value, dict):
            block["input"] = value if list(value) == sorted(value) else {**value, "order": "?"}


def _odd(arguments: Any) -> Any:
    try:
        value = json.loads(arguments)
    except (ValueError, TypeError):
        return arguments
    if not isinstance(value, dict) or list(value) == sorted(value):
        return arguments
    return json.dumps({**value, "order": "?"})


FAULTS = (
    Fault(
        "cache-marks-count",
        ("FROM-8",),
        "A cache_control mark makes a text another text.",
        app=Edit(ask=_marks_count),
    ),
    Fault(
        "blocks-count",
        ("FROM-8", "MAP-1"),
        "A user's text as a block is another text than as a string.",
        app=Edit(ask=_blocks_count),
    ),
    Fault(
        "key-order-counts",
        ("FROM-8",),
        "Tool arguments with their keys in another order are other arguments.",
        app=Edit(ask=_key_order_counts),
    ),
)
