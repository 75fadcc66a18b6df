"""``count_tokens``: as many as the same body is answered with, and nothing is touched (P15)."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.protocol.histories import asking
from tests.protocol.routes import ROUTES, Json
from tests.protocol.server import Server

MESSAGES = ROUTES["messages"]
TOOL: Json = {
    "name": "tide",
    "description": "When the tide comes.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
}
USE = {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"place": "Bay"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}
BODIES: dict[str, Json] = {
    "a word": {"messages": [{"role": "user", "content": "a"}]},
    "a system prompt": {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]},
    "tools": {"messages": [{"role": "user", "content": "foo"}], **MESSAGES.tools([TOOL])},
    "a call and its result": {
        "messages": [
            {"role": "user", "content": "When?"},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, USE]},
            {"role": "user", "content": [RESULT]},
            {"role": "system", "content": "12 tokens left"},
        ],
        **MESSAGES.tools([TOOL]),
    },
    "the beginning of a reply": {
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well,"}]
    },
}


def count(server: Server, body: Json, headers: dict[str, str] | None = None) -> int:
    asked = {name: value for name, value in body.items() if name not in ("max_tokens", "stream")}
    got = server.http.post("/v1/messages/count_tokens?beta=true", json=asked, headers=headers)
    assert got.status_code == 200, got.text
    assert not [name for name in got.headers if name.startswith("x-halogen")]
    assert set(got.json()) == {"input_tokens"}
    return int(got.json()["input_tokens"])


@pytest.mark.parametrize("case", BODIES)
def test_the_count_is_what_the_answer_reports(server: Server, case: str) -> None:
    body = {"model": "any", "max_tokens": 1, **BODIES[case]}
    answer = MESSAGES.whole(server.http.post(MESSAGES.path, json=body).json())
    assert count(server, body) == answer.prompt > 0


def test_all_of_the_prompt_is_counted(server: Server) -> None:
    bare = count(server, {"model": "any", **BODIES["a word"]})
    # Longer than the system text that a template may put in by itself.
    for more in ({"system": "Be brief. " * 30}, MESSAGES.tools([TOOL])):
        assert count(server, {"model": "any", **BODIES["a word"], **more}) > bare


def test_counting_touches_nothing(server: Server, name: Callable[[str], str]) -> None:
    plan = name("plan")
    body: dict[str, Any] = MESSAGES.body(asking("What is fog?"), partial=None, stream=False)
    assert server.http.post(MESSAGES.path, json=body, headers={"x-halogen-keep": plan}).is_success
    before, cells = server.handles(), server.gauge("halogen_kv_cells_used")
    for session in ({}, {"x-claude-code-session-id": "s"}):
        headers = {"x-halogen-from": plan, "x-halogen-keep": plan, **session}
        assert count(server, body, headers) > 0
        assert count(server, body, {"x-halogen-keep": name("never"), **session}) > 0
    assert server.handles() == before
    assert server.gauge("halogen_kv_cells_used") == cells
