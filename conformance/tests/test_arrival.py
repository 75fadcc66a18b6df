"""Which events bring a piece of the reply, on each route."""

from __future__ import annotations

import json
from typing import Any

import pytest

from halogen_conformance.drivers.arrival import brings_text
from halogen_conformance.drivers.sse import SseEvent


def chat(**delta: Any) -> SseEvent:
    return SseEvent(data=json.dumps({"choices": [{"index": 0, "delta": delta}]}))


@pytest.mark.parametrize(
    ("route", "event", "brings"),
    [
        ("chat", chat(role="assistant", content=""), False),
        ("chat", chat(content="Fog"), True),
        ("chat", chat(reasoning_content="Hm"), True),
        ("chat", chat(tool_calls=[{"index": 0}]), True),
        ("chat", chat(), False),
        ("chat", SseEvent(data='{"choices": [], "usage": {}}'), False),
        ("chat", SseEvent(data="[DONE]"), False),
        ("chat", SseEvent(data="{broken"), False),
        ("chat", SseEvent(data="[1]"), False),
        ("chat", SseEvent(comment="keepalive"), False),
        ("messages", SseEvent(data="{}", name="content_block_delta"), True),
        ("messages", SseEvent(data="{}", name="content_block_start"), False),
        ("messages", SseEvent(data="{}", name="ping"), False),
        ("responses", SseEvent(data="{}", name="response.output_text.delta"), True),
        ("responses", SseEvent(data="{}", name="response.function_call_arguments.delta"), True),
        ("responses", SseEvent(data="{}", name="response.created"), False),
        ("responses", SseEvent(data="{}"), False),
    ],
)
def test_brings_text(route: str, event: SseEvent, brings: bool) -> None:
    assert brings_text(route, event) is brings
