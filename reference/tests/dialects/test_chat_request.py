"""Chat Completions fields beside the messages: what they mean, and what is refused."""

from typing import Any

import pytest

from halogen_reference.call import ChoiceMode, Opening, Sampling, ToolChoice
from halogen_reference.conversation import Tool
from halogen_reference.dialects.chat import parse
from halogen_reference.errors import RequestError
from tests.dialects.chat_bodies import LOOK, STOP, read, refused


def test_defaults() -> None:
    request = read()
    call = request.call
    assert call.model == "m"
    assert (call.max_tokens, call.stop, call.n, call.stream) == (None, (), 1, False)
    assert (call.opening, call.tool_choice) == (Opening.REPLY, ToolChoice())
    assert call.sampling == Sampling()
    assert (request.echo, request.include_usage, request.show_reasoning) == ("", False, True)


def test_every_field_has_its_place() -> None:
    request = read(
        temperature=0, top_p=0.5, top_k=40, min_p=0.1, seed=7, repetition_penalty=1.1,
        presence_penalty=-2, frequency_penalty=2, logit_bias={"50": -100, "7": 1.5},
        logprobs=True, top_logprobs=3, stop=["a", "b"], n=3, stream=True,
        stream_options={"include_usage": True}, max_completion_tokens=9, max_tokens=5,
        include_reasoning=False, response_format={"type": "text"}, modalities=["text"],
    )  # fmt: skip
    call = request.call
    assert call.sampling == Sampling(
        0.0, 0.5, 40, 0.1, 7, 1.1, -2.0, 2.0, ((50, -100.0), (7, 1.5)), 3
    )
    assert (call.stop, call.n, call.stream, call.max_tokens) == (("a", "b"), 3, True, 9)
    assert request.include_usage and not request.show_reasoning


OPTIONAL = [
    "temperature", "top_p", "top_k", "min_p", "seed", "repetition_penalty", "presence_penalty",
    "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "stop", "n", "stream",
    "stream_options", "max_tokens", "max_completion_tokens", "tools", "tool_choice",
    "parallel_tool_calls", "response_format", "modalities", "functions", "function_call",
    "continue_final_message", "add_generation_prompt", "echo", "include_reasoning",
]  # fmt: skip
IGNORED = [
    "user", "metadata", "store", "service_tier", "prompt_cache_key", "verbosity", "prediction",
    "made_up",
]  # fmt: skip


def test_an_explicit_null_is_an_absent_field() -> None:
    assert read(None, **dict.fromkeys(OPTIONAL)).call == read().call


def test_unknown_and_ignored_fields_are_not_looked_at() -> None:
    assert read(None, **dict.fromkeys(IGNORED, 5)).call == read().call


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("model", 5, "model"), ("model", "", "model"),
        ("temperature", 2.1, None), ("temperature", -1, None), ("temperature", "1", None),
        ("temperature", True, None), ("top_p", 1.1, None), ("top_k", -2, None),
        ("top_k", 1.5, None), ("min_p", 2, None), ("repetition_penalty", 0, None),
        ("presence_penalty", 3, None), ("frequency_penalty", -3, None), ("seed", "1", None),
        ("seed", 2**64, None), ("n", 0, None), ("n", 17, None), ("n", True, None),
        ("max_tokens", 0, None), ("max_tokens", "5", None), ("max_completion_tokens", 0, None),
        ("stop", 5, None), ("stop", "", None), ("stop", ["a", ""], "stop[1]"),
        ("stop", ["a", 1], "stop[1]"), ("stop", list("abcde"), None), ("stream", "yes", None),
        ("stream", 1, None), ("top_logprobs", 21, None), ("top_logprobs", 2, None),
        ("logprobs", 2, None), ("stream_options", {"include_usage": True}, None),
        ("stream_options", [], None), ("logit_bias", {"x": 1}, None), ("logit_bias", [], None),
        ("logit_bias", {"-5": 1}, None), ("logit_bias", {"9" * 5000: 1}, None),
        ("logit_bias", {"5": 101}, "logit_bias.5"), ("logit_bias", {"5": None}, "logit_bias.5"),
        ("functions", [], None), ("function_call", "auto", None),
        ("response_format", {"type": "json_object"}, "response_format.type"),
        ("response_format", {"type": "json_schema", "json_schema": {}}, "response_format.type"),
        ("response_format", {}, "response_format.type"), ("response_format", "text", None),
        ("modalities", ["text", "audio"], None), ("tools", {}, None), ("tools", [1], "tools[0]"),
        ("tools", [{"type": "custom", "custom": {"name": "x"}}], "tools[0].type"),
        ("tools", [{"type": "function"}], "tools[0].function"),
        ("tools", [{"type": "function", "function": {}}], "tools[0].function.name"),
        ("tools", [{"type": "function", "function": {"name": "f", "parameters": "x"}}],
         "tools[0].function.parameters"),
        ("tools", [LOOK, LOOK], None), ("parallel_tool_calls", 1, None),
        ("continue_final_message", "yes", None), ("add_generation_prompt", 1, None),
        ("echo", 1, None), ("include_reasoning", "no", None),
    ],
)  # fmt: skip
def test_a_bad_field_is_named(field: str, value: Any, param: str | None) -> None:
    problem = refused(**{field: value})
    assert problem.param == (param or field)
    assert problem.param in problem.message


@pytest.mark.parametrize(("field", "value"), [("top_k", -1), ("top_k", 0), ("seed", -5), ("n", 16)])
def test_the_edges_of_ranges_are_inside(field: str, value: int) -> None:
    read(None, **{field: value})


def test_minus_one_is_another_spelling_of_the_whole_vocabulary() -> None:
    assert read(top_k=-1).call.sampling == read(top_k=0).call.sampling == Sampling()


def test_the_model_is_checked_by_who_knows_it() -> None:
    asked = []

    def refuse(model: str | None) -> str:
        asked.append(model)
        raise RequestError(404, "no such model", "model", "model_not_found")

    with pytest.raises(RequestError) as caught:
        parse(
            b'{"model": "other", "messages": [{"role": "user", "content": "hi"}]}',
            check_model=refuse,
        )
    assert caught.value.status == 404
    assert asked == ["other"]


def test_tools_are_canonical() -> None:
    assert read(tools=[LOOK, STOP]).call.conversation.tools == (
        Tool("look", "", '{"type":"object"}'),
        Tool("stop", "End.", "{}"),
    )


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice()),
        ("none", ToolChoice(ChoiceMode.NONE)),
        ("required", ToolChoice(ChoiceMode.REQUIRED)),
        ({"type": "function", "function": {"name": "stop"}},
         ToolChoice(ChoiceMode.REQUIRED, "stop")),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [STOP, LOOK]}},
         ToolChoice()),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [STOP]}},
         ToolChoice(ChoiceMode.REQUIRED, "stop")),
    ],
)  # fmt: skip
def test_tool_choice(choice: Any, meaning: ToolChoice) -> None:
    assert read(tools=[LOOK, STOP], tool_choice=choice).call.tool_choice == meaning


def test_one_call_at_a_time() -> None:
    assert not read(tools=[LOOK], parallel_tool_calls=False).call.tool_choice.parallel


@pytest.mark.parametrize(
    "choice",
    [
        "any", 5, {}, {"type": "tool"}, {"type": "function"},
        {"type": "function", "function": {"name": "fly"}},
        {"type": "allowed_tools"},
        {"type": "allowed_tools", "allowed_tools": {"mode": "none", "tools": [LOOK]}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [LOOK]}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
            {"type": "function", "function": {"name": "fly"}}]}},
    ],
)  # fmt: skip
def test_a_bad_tool_choice_is_refused(choice: Any) -> None:
    problem = refused(tools=[LOOK, STOP], tool_choice=choice)
    assert problem.param and problem.param.startswith("tool_choice")


@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "function": {}}])
def test_a_tool_choice_needs_tools(choice: Any) -> None:
    assert refused(tool_choice=choice).param == "tool_choice"
    assert read(tool_choice="none").call.tool_choice.mode is ChoiceMode.NONE
