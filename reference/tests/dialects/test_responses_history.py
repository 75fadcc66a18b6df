"""Responses input: what the history means, and what is refused."""

from typing import Any

import pytest

from halogen_reference.call import Opening
from halogen_reference.conversation import Assistant, System, ToolCall, ToolResult, User
from halogen_reference.errors import RequestError
from tests.dialects import requests
from tests.dialects.responses_bodies import (
    ASK,
    PATH,
    body,
    called,
    output,
    output_text,
    read,
    refused,
    said,
    thought,
)

LOOKED = (ToolCall("1", "look", "{}"),)


def items(*sent: Any, **fields: Any) -> Any:
    return read(list(sent), **fields).call.conversation.items


def test_every_item_has_its_place() -> None:
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
    assert items(
        {"type": "message", "role": "developer", "content": parts},
        {"role": "system", "content": "c"},
        {"role": "user", "content": parts},
        thought("hm"),
        said([output_text("I "), output_text("look.")]),
        called('{"b": 1, "a": 2.0}'),
        called("{}", "call_2"),
        output("sea"),
        output(parts, "call_2"),
        said("So."),
        {"role": "developer", "content": "be short"},
        ASK,
        instructions="be kind",
    ) == (
        System("be kind\na\nb\nc"),
        User("a\nb"),
        Assistant(
            "I look.",
            "hm",
            (ToolCall("1", "look", '{"a":2,"b":1}'), ToolCall("2", "look", "{}")),
        ),
        ToolResult("1", "sea"),
        ToolResult("2", "a\nb"),
        Assistant("So."),
        System("be short"),
        User("hi"),
    )


def test_a_string_is_one_user_message() -> None:
    assert read("hi").call.conversation == read([ASK]).call.conversation


@pytest.mark.parametrize(
    ("turn", "meaning"),
    [
        # One turn: what belongs to a reply is put together again.
        ([called()], [Assistant("", None, LOOKED)]),
        ([said("a"), called()], [Assistant("a", None, LOOKED)]),
        ([called(), said("b")], [Assistant("b", None, LOOKED)]),
        ([said("a"), called(), said("b")], [Assistant("ab", None, LOOKED)]),
        ([thought("x"), thought("y"), said("a")], [Assistant("a", "xy")]),
        ([thought("x"), called()], [Assistant("", "x", LOOKED)]),
        ([said("a"), thought("x"), called()], [Assistant("a", "x", LOOKED)]),
        ([called(), thought("x"), said("b")], [Assistant("b", "x", LOOKED)]),
        ([called(), thought("x")], [Assistant("", "x", LOOKED)]),
        ([thought("x")], [Assistant("", "x")]),
        ([thought("", "short")], [Assistant("", "short")]),
        ([thought("long", "short")], [Assistant("", "long")]),
        # Two turns: nothing says that they were one.
        ([said("a"), said("b")], [Assistant("a"), Assistant("b")]),
        ([said("a"), thought("x"), said("b")], [Assistant("a"), Assistant("b", "x")]),
        ([called(), output("1"), said("b")],
         [Assistant("", None, LOOKED), ToolResult("1", "1"), Assistant("b")]),
    ],
)  # fmt: skip
def test_which_items_are_one_turn(turn: list[Any], meaning: list[Any]) -> None:
    assert items(ASK, *turn, ASK) == (User("hi"), *meaning, User("hi"))


def test_a_namespace_is_part_of_the_name() -> None:
    turn = items(ASK, called(namespace="agents"), ASK)[1]
    assert turn.calls[0].name == "agents__look"


def test_a_custom_call_is_a_call_with_a_text() -> None:
    call = {"type": "custom_tool_call", "call_id": "call_1", "name": "patch", "input": "+a"}
    answer = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "ok"}
    assert items(ASK, call, answer)[1:] == (
        Assistant("", None, (ToolCall("1", "patch", '"+a"'),)),
        ToolResult("1", "ok"),
    )


def test_traces_of_a_vendors_tools_are_left_out() -> None:
    trace = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    assert items(ASK, trace, said("So."), ASK) == items(ASK, said("So."), ASK)


@pytest.mark.parametrize("content", ["", []])
def test_a_turn_may_be_empty(content: Any) -> None:
    """KEEP-2: an empty reply can be sent back."""
    assert items(ASK, said(content), ASK)[1] == Assistant("")
    assert items({"role": "user", "content": content}) == (User(""),)


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ("hi", "input[1]"),
        ({}, "input[1].type"),
        ({"type": 5}, "input[1].type"),
        ({"type": "compaction", "encrypted_content": "x"}, "input[1].type"),
        ({"type": "made_up"}, "input[1].type"),
        ({"role": "robot", "content": "x"}, "input[1].role"),
        ({"type": "message", "content": "x"}, "input[1].role"),
        ({"role": "user"}, "input[1].content"),
        ({"role": "user", "content": 5}, "input[1].content"),
        ({"role": "user", "content": [{"type": "refusal", "refusal": "x"}]},
         "input[1].content[0].type"),
        (said([{"type": "output_text"}]), "input[1].content[0].text"),
        (called(arguments=5), "input[1].arguments"),
        (called(call_id=None), "input[1].call_id"),
        (called(name=""), "input[1].name"),
        (called(namespace=5), "input[1].namespace"),
        ({"type": "function_call_output", "call_id": "1"}, "input[1].output"),
        ({"type": "function_call_output", "output": "x"}, "input[1].call_id"),
        ({"type": "reasoning", "summary": [{"type": "image"}]}, "input[1].summary[0].type"),
        ({"type": "custom_tool_call", "call_id": "1", "name": "x"}, "input[1].input"),
    ],
)  # fmt: skip
def test_a_bad_item_is_named(item: Any, param: str) -> None:
    problem = refused([ASK, item, ASK])
    assert problem.param == param
    assert param in problem.message


@pytest.mark.parametrize("kind", ["input_image", "input_file", "input_audio"])
def test_what_is_not_text_is_refused(kind: str) -> None:
    for item in ({"role": "user", "content": [{"type": kind}]}, output([{"type": kind}])):
        assert "reads text only" in refused([item]).message


@pytest.mark.parametrize("reference", [{"type": "item_reference", "id": "x"}, {"id": "x"}])
def test_a_reference_is_not_found(reference: Any) -> None:
    with pytest.raises(RequestError, match="stores no responses") as caught:
        requests.parse(PATH, body([ASK, reference]))
    assert caught.value.status == 404


@pytest.mark.parametrize("sent", [[], {}, 5, [{"role": "system", "content": ""}]])
def test_there_must_be_something_to_reply_to(sent: Any) -> None:
    assert refused(sent).param == "input"


# BRANCH-3: a final assistant item


@pytest.mark.parametrize(
    "item",
    [
        {"role": "assistant", "content": "The sea is "},
        {"role": "assistant", "content": [output_text("The sea is ")]},
        {"role": "assistant", "content": [output_text("The "), output_text("sea is ")]},
        said("The sea is "),
        said([output_text("The sea is ")], id="msg_1", status="in_progress"),
        said([output_text("The sea is ")], id="msg_1", status="incomplete"),
        said([output_text("The sea is ")], id="msg_1", status="completed", phase="final_answer"),
    ],
)
def test_all_spellings_of_a_final_assistant_item_continue_it(item: Any) -> None:
    """BRANCH-6, and BRANCH-7: white space at the end is part of it."""
    call = read([ASK, item]).call
    assert call.opening is Opening.CONTINUE
    assert call.conversation.items[-1] == Assistant("The sea is ")


def test_reasoning_before_it_is_part_of_the_turn() -> None:
    call = read([ASK, thought("hm"), said("The")]).call
    assert (call.opening, call.conversation.items[-1]) == (
        Opening.CONTINUE,
        Assistant("The", "hm"),
    )


def test_continuing_nothing_is_an_ordinary_reply() -> None:
    call = read([ASK, said("")]).call
    assert (call.opening, call.conversation.items) == (Opening.REPLY, (User("hi"),))


@pytest.mark.parametrize(
    ("sent", "word"),
    [
        ([ASK, called()], "tool calls"),
        ([ASK, said("x"), called()], "tool calls"),
        ([ASK, said("a"), said("b")], "two or more assistant messages"),
        ([ASK, thought("hm")], "reasoning"),
    ],
)
def test_what_cannot_be_continued_is_refused(sent: list[Any], word: str) -> None:
    """P12."""
    problem = refused(sent)
    assert word in problem.message
    assert problem.param == "input"
