"""Responses fields beside the input: what they mean, and what is refused."""

import json
from typing import Any

import pytest

from halogen_reference.call import ChoiceMode, Sampling, ToolChoice
from halogen_reference.conversation import Tool
from halogen_reference.dialects.responses import parse
from halogen_reference.errors import RequestError
from tests.dialects.responses_bodies import AGENTS, LOOK, STOP, body, read, refused


def test_defaults() -> None:
    call = read().call
    assert (call.model, call.max_tokens, call.stop, call.n) == ("m", None, (), 1)
    assert (call.stream, call.tool_choice, call.sampling) == (False, ToolChoice(), Sampling())


def test_every_field_has_its_place() -> None:
    call = read(
        temperature=0.5, top_p=0.5, seed=7, max_output_tokens=9, stream=True, stop="END",
        include=["message.output_text.logprobs", "reasoning.encrypted_content"], top_logprobs=3,
        text={"format": {"type": "text"}, "verbosity": "low"}, truncation="auto",
    ).call  # fmt: skip
    assert call.sampling == Sampling(temperature=0.5, top_p=0.5, seed=7, logprobs=3)
    assert (call.max_tokens, call.stream, call.stop) == (9, True, ("END",))


def test_who_asks_for_log_probabilities_gets_them() -> None:
    included = ["message.output_text.logprobs"]
    assert read(include=included).call.sampling.logprobs == 0
    assert read(top_logprobs=2).call.sampling.logprobs == 2
    assert read(top_logprobs=0).call.sampling.logprobs is None
    assert read(include=["reasoning.encrypted_content"]).call.sampling.logprobs is None


OPTIONAL = [
    "instructions", "temperature", "top_p", "max_output_tokens", "stream", "tools", "tool_choice",
    "parallel_tool_calls", "text", "reasoning", "top_logprobs", "include", "store", "metadata",
    "previous_response_id", "background", "conversation", "prompt", "truncation", "stop", "seed",
]  # fmt: skip
IGNORED = [
    "prompt_cache_key", "client_metadata", "service_tier", "user", "safety_identifier",
    "stream_options", "context_management", "max_tool_calls", "moderation", "store", "made_up",
]  # fmt: skip


def test_an_explicit_null_is_an_absent_field() -> None:
    assert read(None, **dict.fromkeys(OPTIONAL)).call == read().call


def test_unknown_and_ignored_fields_are_not_looked_at() -> None:
    assert read(None, **dict.fromkeys(IGNORED, 5)).call == read().call


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("model", 5, None), ("model", "", None), ("instructions", 5, None),
        ("temperature", 2.5, None), ("top_p", -1, None), ("max_output_tokens", 0, None),
        ("max_output_tokens", "9", None), ("stream", "yes", None), ("top_logprobs", 21, None),
        ("include", "x", None), ("include", [5], "include[0]"), ("metadata", [], None),
        ("reasoning", "high", None), ("truncation", "middle", None), ("background", True, None),
        ("background", 1, None), ("conversation", "conv_1", None), ("prompt", {"id": "x"}, None),
        ("text", [], None), ("text", {"format": {"type": "json_object"}}, "text.format.type"),
        ("text", {"format": {}}, "text.format.type"), ("tools", {}, None),
        ("tools", [{"name": "f"}], "tools[0].type"),
        ("tools", [{"type": "function"}], "tools[0].name"),
        ("tools", [{"type": "namespace", "tools": []}], "tools[0].name"),
        ("tools", [{"type": "namespace", "name": "a", "tools": [{"type": "function"}]}],
         "tools[0].tools[0].name"),
        ("tools", [LOOK, LOOK], None), ("tool_choice", "any", None), ("tool_choice", 5, None),
        ("tool_choice", "required", None), ("parallel_tool_calls", 1, None),
        ("tool_choice", {"type": "function", "name": "look"}, "tool_choice.name"),
        ("tool_choice", {"type": "file_search"}, "tool_choice.type"), ("stop", 5, None),
        ("stop", list("abcde"), None), ("previous_response_id", 5, None),
    ],
)  # fmt: skip
def test_a_bad_field_is_named(field: str, value: Any, param: str | None) -> None:
    problem = refused(**{field: value})
    assert problem.param == (param or field)
    assert problem.param in problem.message


def test_what_cannot_be_repeated_is_refused() -> None:
    """Settings go into the answer: an infinity would not be JSON there."""
    sent = json.dumps(body(metadata={"x": "HERE"})).replace('"HERE"', "1e999")
    with pytest.raises(RequestError, match="out of range"):
        parse(sent.encode())


def test_a_stored_response_is_not_found() -> None:
    """P13: never accepted and then ignored."""
    problem = refused(previous_response_id="resp_1")
    assert problem.code == "previous_response_not_found"
    assert problem.param == "previous_response_id"


def test_the_model_is_checked_by_who_knows_it() -> None:
    def refuse(model: str | None) -> str:
        raise RequestError(404, f"no {model}", "model", "model_not_found")

    with pytest.raises(RequestError, match="no m"):
        parse(json.dumps(body()).encode(), check_model=refuse)


# Tools


def test_tools_are_flat_and_others_are_left_out() -> None:
    """Codex lists a web search without a name, and functions inside a namespace."""
    others = [{"type": "web_search", "external_web_access": False}, {"type": "custom", "name": "p"}]
    request = read(tools=[LOOK, *others, AGENTS, STOP])
    assert request.call.conversation.tools == (
        Tool("look", "", '{"type":"object"}'),
        Tool("agents__look", "", '{"type":"object"}'),
        Tool("stop", "End.", "{}"),
    )
    assert request.namespaces == {"agents__look": ("agents", "look")}


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        ("auto", ToolChoice()),
        ("none", ToolChoice(ChoiceMode.NONE)),
        ("required", ToolChoice(ChoiceMode.REQUIRED)),
        ({"type": "function", "name": "stop"}, ToolChoice(ChoiceMode.REQUIRED, "stop")),
        ({"type": "function", "name": "look", "namespace": "agents"},
         ToolChoice(ChoiceMode.REQUIRED, "agents__look")),
        ({"type": "allowed_tools", "mode": "required", "tools": [STOP, {"type": "web_search"}]},
         ToolChoice(ChoiceMode.REQUIRED, "stop")),
        ({"type": "allowed_tools", "mode": "auto", "tools": [
            STOP, {"type": "function", "name": "look", "namespace": "agents"}]}, ToolChoice()),
    ],
)  # fmt: skip
def test_tool_choice(choice: Any, meaning: ToolChoice) -> None:
    assert read(tools=[AGENTS, STOP], tool_choice=choice).call.tool_choice == meaning


def test_auto_and_none_need_no_tools() -> None:
    """Codex always sends one."""
    for choice in ("auto", "none"):
        read(tools=[{"type": "web_search"}], tool_choice=choice)


def test_one_call_at_a_time() -> None:
    assert not read(tools=[LOOK], parallel_tool_calls=False).call.tool_choice.parallel
