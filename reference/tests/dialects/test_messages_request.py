"""Messages fields beside the history: what they mean, and what is refused."""

import json
from typing import Any

import pytest

from halogen_reference.call import ChoiceMode, Sampling, ToolChoice
from halogen_reference.conversation import Tool
from halogen_reference.dialects.messages import count_reply, parse, parse_count
from halogen_reference.errors import RequestError
from tests.dialects.messages_bodies import ASK, LOOK, STOP, body, read, refused


def test_defaults() -> None:
    call = read().call
    assert (call.model, call.max_tokens, call.stop, call.n) == ("m", 9, (), 1)
    assert (call.stream, call.tool_choice, call.sampling) == (False, ToolChoice(), Sampling())


def test_every_field_has_its_place() -> None:
    request = read(
        temperature=0.5, top_p=0.5, top_k=40, seed=7, stop_sequences=["a", "b"], stream=True,
        metadata={"user_id": '{"session_id":"s"}'}, output_config={"effort": "high"},
        max_tokens=0,
    )  # fmt: skip
    call = request.call
    assert call.sampling == Sampling(temperature=0.5, top_p=0.5, top_k=40, seed=7)
    assert (call.stop, call.stream, call.max_tokens) == (("a", "b"), True, 0)
    assert request.user_id == '{"session_id":"s"}'


def test_a_format_is_taken_and_not_enforced() -> None:
    """Claude Code asks for one in its title requests."""
    asked = {"format": {"type": "json_schema", "schema": {"properties": {"title": {}}}}}
    assert read(output_config=asked).call == read().call


OPTIONAL = [
    "system", "temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "thinking",
    "output_config", "tools", "tool_choice", "thread",
]  # fmt: skip
IGNORED = [
    "cache_control", "container", "context_management", "service_tier", "speed", "mcp_servers",
    "betas", "diagnostics", "made_up",
]  # fmt: skip


def test_an_explicit_null_is_an_absent_field() -> None:
    assert read(None, **dict.fromkeys(OPTIONAL)).call == read().call


def test_unknown_and_ignored_fields_are_not_looked_at() -> None:
    assert read(None, **dict.fromkeys(IGNORED, 5)).call == read().call


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("model", 5, None), ("max_tokens", None, None),
        ("max_tokens", -1, None), ("max_tokens", "5", None), ("max_tokens", True, None),
        ("system", 5, None), ("system", [{"type": "image"}], "system[0].type"),
        ("temperature", "hot", None), ("temperature", 3, None), ("top_p", 2, None),
        ("stop_sequences", "END", None), ("stop_sequences", [""], "stop_sequences[0]"),
        ("stop_sequences", ["x"] * 17, None), ("stream", 1, None), ("metadata", "x", None),
        ("metadata", {"user_id": 5}, "metadata.user_id"), ("thinking", True, None),
        ("thinking", {"type": "deep"}, "thinking.type"), ("thinking", {}, "thinking.type"),
        ("thinking", {"type": "enabled"}, "thinking.budget_tokens"),
        ("thinking", {"type": "enabled", "budget_tokens": 10}, "thinking.budget_tokens"),
        ("thinking", {"type": "enabled", "budget_tokens": 2000}, "thinking.budget_tokens"),
        ("output_config", [], None), ("output_config", {"format": "json"}, "output_config.format"),
        ("tools", {}, None), ("tools", [{}], "tools[0].name"),
        ("tools", [{"name": "f", "input_schema": []}], "tools[0].input_schema"),
        ("tools", [LOOK, LOOK], None), ("tool_choice", "auto", None),
        ("tool_choice", {"type": "required"}, "tool_choice.type"),
        ("tool_choice", {"type": "any"}, "tool_choice.type"),
        ("tool_choice", {"type": "tool", "name": "look"}, "tool_choice.name"),
        ("tool_choice", {"type": "auto", "disable_parallel_tool_use": 1},
         "tool_choice.disable_parallel_tool_use"),
    ],
)  # fmt: skip
def test_a_bad_field_is_named(field: str, value: Any, param: str | None) -> None:
    problem = refused(**{field: value})
    assert problem.param == (param or field)
    assert problem.param in problem.message


def test_the_model_is_checked_by_who_knows_it() -> None:
    def refuse(model: str | None) -> str:
        raise RequestError(404, f"no {model}", "model", "model_not_found")

    for reader in (parse, parse_count):
        with pytest.raises(RequestError, match="no m"):
            reader(json.dumps(body()).encode(), check_model=refuse)


def test_a_fragment_of_a_thread_is_refused() -> None:
    """P17: answered as it stands, it would be an answer without a memory."""
    problem = refused(thread={"type": "continue", "previous_message_id": "msg_1"})
    assert "capability_rejected: beta_header:message-threads-2026-08-12" in problem.message
    assert read(thread={"type": "create"}).call == read().call


# Tools


def test_tools_are_canonical_and_a_vendors_are_left_out() -> None:
    marked = {**LOOK, "cache_control": {"type": "ephemeral"}, "type": "custom", "strict": True}
    vendors = {"type": "web_search_20260209", "name": "web_search"}
    assert read(tools=[marked, vendors, STOP]).call.conversation.tools == (
        Tool("look", "", '{"type":"object"}'),
        Tool("stop", "End.", "{}"),
    )


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        ({"type": "auto"}, ToolChoice()),
        ({"type": "none"}, ToolChoice(ChoiceMode.NONE)),
        ({"type": "any"}, ToolChoice(ChoiceMode.REQUIRED)),
        ({"type": "tool", "name": "stop"}, ToolChoice(ChoiceMode.REQUIRED, "stop")),
        ({"type": "any", "disable_parallel_tool_use": True},
         ToolChoice(ChoiceMode.REQUIRED, parallel=False)),
    ],
)  # fmt: skip
def test_tool_choice(choice: Any, meaning: ToolChoice) -> None:
    assert read(tools=[LOOK, STOP], tool_choice=choice).call.tool_choice == meaning


def test_auto_and_none_need_no_tools() -> None:
    assert read(tools=[], tool_choice={"type": "auto"}).call.tool_choice == ToolChoice()


# Counting


def test_counting_sees_the_same_prompt() -> None:
    asked = body(
        system="be kind", tools=[LOOK], thinking={"type": "enabled", "budget_tokens": 1024}
    )
    del asked["max_tokens"]
    counted = parse_count(json.dumps(asked).encode())
    assert counted.call.conversation == read(system="be kind", tools=[LOOK]).call.conversation
    assert counted.call.max_tokens is None
    assert count_reply(12) == {"input_tokens": 12}


def test_counting_refuses_what_a_request_refuses() -> None:
    with pytest.raises(RequestError):
        parse_count(json.dumps({"model": "m", "messages": [ASK, {"role": "robot"}]}).encode())
