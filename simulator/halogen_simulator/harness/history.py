"""The messages of a transcript as the conversation that a request carries."""

import json
from collections.abc import Iterable, Iterator

from halogen_conformance.drivers.conversation import (
    Assistant,
    Call,
    Conversation,
    System,
    Tool,
    ToolResult,
    Turn,
    User,
)
from halogen_simulator.harness import record
from halogen_simulator.harness.record import Message


def history(
    messages: Iterable[Message], system: str = "", tools: tuple[Tool, ...] = ()
) -> Conversation:
    """``system`` is the harness's own text and comes first; transcripts do not hold it."""
    head: list[Turn] = [System(system)] if system else []
    said = [turn for message in messages for turn in _turns(message)]
    return Conversation((*head, *said), tools)


def _turns(message: Message) -> Iterator[Turn]:
    if message.role == "system":
        yield System(message.text)
    elif message.role == "assistant":
        calls = (block for block in message.blocks if isinstance(block, record.ToolUse))
        yield Assistant(message.text, tuple(_call(call) for call in calls))
    else:
        for block in message.blocks:
            if isinstance(block, record.ToolResult):
                yield ToolResult(block.tool_use_id, block.output, block.is_error)
        texts = tuple(block.text for block in message.blocks if isinstance(block, record.Text))
        if texts:
            yield User(texts[0] if len(texts) == 1 else texts)


def _call(call: record.ToolUse) -> Call:
    """Arguments that a limit cut short cannot be sent on every route: they become an empty object,
    which the tool's complaint about them then explains."""
    try:
        whole = isinstance(json.loads(call.input or "{}"), dict)
    except (ValueError, RecursionError):
        whole = False
    return Call(call.id, call.name, call.input if whole else "{}")
