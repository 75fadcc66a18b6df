"""The one writer of server-sent events.

An event is one call's return value and is never split, so whatever is sent between two calls
stands between two events. ``id:`` and ``retry:`` lines are never written: they make the openai SDK
parse an event without data.
"""

from pydantic_core import to_json

from halogen_reference.dialects.fields import JsonObject

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}
"""Response headers of a stream: nothing between server and client may buffer or store it."""

DONE = b"data: [DONE]\n\n"
KEEPALIVE_COMMENT = b": keepalive\n\n"


def data(payload: JsonObject) -> bytes:
    """An event without a name, as on Chat Completions."""
    return b"data: " + to_json(payload) + b"\n\n"


def named(payload: JsonObject) -> bytes:
    """An event named after its ``type``, as on Messages and Responses."""
    return b"event: " + str(payload["type"]).encode() + b"\n" + data(payload)
