"""Functions to offer, and a reply that calls one."""

import json

from tests.protocol.client import Talk
from tests.protocol.histories import asking
from tests.protocol.routes import Json, ToolCall

TIDE: Json = {
    "name": "tide",
    "description": "When the tide comes.",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string"}, "day": {"type": "integer"}},
        "required": ["place", "day"],
        "additionalProperties": False,
    },
}
WIND: Json = {
    "name": "wind",
    "description": "How strong the wind is.",
    "parameters": {
        "type": "object",
        "properties": {"unit": {"enum": ["knots", "km/h"]}},
        "required": ["unit"],
        "additionalProperties": False,
    },
}
TOOLS = [TIDE, WIND]


def fits(call: ToolCall) -> bool:
    """Whether a call's arguments are what its function takes."""
    arguments = json.loads(call.arguments)
    match call.name, arguments:
        case "tide", {"place": str(), "day": int(), **rest}:
            return not rest
        case "wind", {"unit": "knots" | "km/h", **rest}:
            return not rest
    return False


def tool_body(
    talk: Talk, text: str, choice: str = "auto", *, parallel: bool = True, limit: int = 200
) -> Json:
    """A question, with both functions offered."""
    body = talk.route.body(asking(text), partial=None, stream=talk.stream, max_tokens=limit)
    return {**body, **talk.route.tools(TOOLS, choice, parallel=parallel)}
