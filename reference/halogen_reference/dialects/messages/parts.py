"""The pieces of JSON that whole answers and event streams of Messages have in common."""

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.messages.request import MessagesRequest
from halogen_reference.reply import Finish, Usage

STOP_REASONS = {
    Finish.END_OF_TURN: "end_turn",
    Finish.STOP_STRING: "stop_sequence",
    Finish.LENGTH: "max_tokens",
    Finish.TOOL_CALLS: "tool_use",
}
SIGNATURE = "unsigned"
"""Thinking is not signed here, and any signature is accepted back; some clients want one."""


def message(
    request: MessagesRequest,
    usage: JsonObject,
    content: list[JsonObject],
    stop_reason: str | None = None,
    stop_sequence: str | None = None,
) -> JsonObject:
    """A ``message`` object: whole in an answer, still empty in ``message_start``."""
    return {
        "id": request.id,
        "type": "message",
        "role": "assistant",
        "model": request.call.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "usage": usage,
    }


def usage(counts: Usage, output: int) -> JsonObject:
    """``input_tokens`` leaves the cached tokens out here: the prompt is the sum of all three."""
    return {
        "input_tokens": counts.prompt - counts.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": counts.cached,
        "output_tokens": output,
    }


def text(words: str) -> JsonObject:
    """A ``text`` content block."""
    return {"type": "text", "text": words}


def thinking(thoughts: str, signature: str) -> JsonObject:
    """A ``thinking`` content block."""
    return {"type": "thinking", "thinking": thoughts, "signature": signature}


def tool_use(call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    """A ``tool_use`` content block; ``call_id`` is without the prefix of the route."""
    return {"type": "tool_use", "id": f"toolu_{call_id}", "name": name, "input": arguments}
