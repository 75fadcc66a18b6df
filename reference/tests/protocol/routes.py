"""The three routes by name, and the words their tests are written in."""

import json
from collections.abc import Iterable

from tests.protocol.chat import Chat
from tests.protocol.messages import Messages
from tests.protocol.responses import Responses
from tests.protocol.spoken import History, Json, Reply, Route, ToolCall, Turn

__all__ = [
    "ROUTES",
    "Chat",
    "History",
    "Json",
    "Messages",
    "Reply",
    "Responses",
    "Route",
    "ToolCall",
    "Turn",
    "sse",
]

ROUTES: dict[str, Route] = {route.name: route for route in (Chat(), Messages(), Responses())}


def sse(lines: Iterable[str]) -> list[Json]:
    """The events of a stream by their ``data:`` lines; ``[DONE]`` must be the last, once."""
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    if "[DONE]" in data:
        assert data.index("[DONE]") == len(data) - 1, "events after [DONE]"
        data.pop()
    return [json.loads(text) for text in data]
