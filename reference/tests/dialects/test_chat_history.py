"""Chat Completions messages: what they mean, and what is refused."""

from typing import Any

import pytest

from halogen_reference.conversation import Assistant, System, ToolCall, ToolResult, User
from tests.dialects import requests
from tests.dialects.chat_bodies import ASK, PATH, assistant, parts, read, refused, tool_call


def test_every_role_is_an_item() -> None:
    request = read(
        [
            {"role": "system", "content": "be kind"},
            ASK,
            assistant("look!", tool_calls=[tool_call('{"b": 1, "a": 2.0}')]),
            {"role": "tool", "tool_call_id": "call_1", "content": "sea"},
            {"role": "developer", "content": "be short"},
            assistant("ok", reasoning_content="hm"),
        ]
    )
    assert request.call.conversation.items == (
        System("be kind"),
        User("hi"),
        Assistant("look!", None, (ToolCall("1", "look", '{"a":2,"b":1}'),)),
        ToolResult("1", "sea"),
        System("be short"),
        Assistant("ok", "hm"),
    )


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_string_and_one_part_are_the_same(role: str) -> None:
    """FROM-8: marks on a part are no part of its meaning."""
    marked = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]
    one, other = (
        read([ASK, {"role": role, "content": content, "tool_call_id": "call_1"}])
        for content in ("x", marked)
    )
    assert one.call.conversation == other.call.conversation


@pytest.mark.parametrize(
    ("role", "joined"),
    [("user", "a\nb"), ("system", "a\nb"), ("tool", "a\nb"), ("assistant", "ab")],
)
def test_how_several_parts_join(role: str, joined: str) -> None:
    message = {"role": role, "content": parts("a", "", "b"), "tool_call_id": "call_1"}
    assert getattr(read([ASK, message]).call.conversation.items[-1], "text") == joined  # noqa: B009


def test_neighbouring_system_messages_are_one_and_a_late_one_stays_where_it_is() -> None:
    """P10: text in the middle of a conversation is not moved to its start."""
    request = read(
        [
            {"role": "system", "content": "a"},
            {"role": "developer", "content": "b"},
            {"role": "system", "content": ""},
            ASK,
            {"role": "system", "content": "c"},
        ]
    )
    assert request.call.conversation.items == (System("a\nb"), User("hi"), System("c"))


@pytest.mark.parametrize("content", [None, "", []])
def test_an_assistant_may_say_nothing(content: Any) -> None:
    assert read([ASK, assistant(content), ASK]).call.conversation.items[1] == Assistant("")


def test_reasoning_goes_by_two_names_and_empty_is_none() -> None:
    histories = [
        read([ASK, assistant("x", **{name: "hm"}), ASK]).call.conversation
        for name in ("reasoning_content", "reasoning")
    ]
    assert histories[0] == histories[1]
    assert read([ASK, assistant("x", reasoning=""), ASK]).call.conversation.items[1] == Assistant(
        "x"
    )


@pytest.mark.parametrize(
    ("arguments", "canonical"),
    [
        ('{"b":[2,1],"a":"x"}', '{"a":"x","b":[2,1]}'),
        (' { "a" : "x",\n"b": [2, 1] } ', '{"a":"x","b":[2,1]}'),
        ("", "{}"),
        ("go!", '"go!"'),
    ],
)
def test_arguments_are_values(arguments: str, canonical: str) -> None:
    """P07: key order and spacing are not part of a call; its values and their order are."""
    item = read([ASK, assistant(None, tool_calls=[tool_call(arguments)]), ASK])
    assert item.call.conversation.items[1] == Assistant(
        "", None, (ToolCall("1", "look", canonical),)
    )


def test_call_ids_lose_their_prefix_only() -> None:
    """FROM-10: the same call has another prefix on Messages."""
    for wire, bare in (("call_a", "a"), ("toolu_a", "a"), ("a", "a"), ("call_", "call_")):
        request = read([ASK, {"role": "tool", "tool_call_id": wire, "content": "x"}])
        assert request.call.conversation.items[1] == ToolResult(bare, "x")


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("hi", "messages[1]"),
        ({}, "messages[1].role"),
        ({"role": "robot", "content": "x"}, "messages[1].role"),
        ({"role": "function", "content": "x", "name": "f"}, "messages[1].role"),
        ({"role": "user"}, "messages[1].content"),
        ({"role": "user", "content": None}, "messages[1].content"),
        ({"role": "user", "content": 5}, "messages[1].content"),
        ({"role": "user", "content": {"type": "text"}}, "messages[1].content"),
        ({"role": "user", "content": ["x"]}, "messages[1].content[0]"),
        ({"role": "user", "content": [{"text": "x"}]}, "messages[1].content[0].type"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[1].content[0].text"),
        ({"role": "user", "content": [{"type": "refusal", "refusal": "x"}]},
         "messages[1].content[0].type"),
        ({"role": "tool", "content": "x"}, "messages[1].tool_call_id"),
        ({"role": "tool", "tool_call_id": "x"}, "messages[1].content"),
        ({"role": "assistant", "content": 7}, "messages[1].content"),
        ({"role": "assistant", "reasoning_content": {}}, "messages[1].reasoning_content"),
        ({"role": "assistant", "function_call": {"name": "f"}}, "messages[1].function_call"),
        ({"role": "assistant", "tool_calls": {}}, "messages[1].tool_calls"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "messages[1].tool_calls[0].function"),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
         "messages[1].tool_calls[0].id"),
        ({"role": "assistant", "tool_calls": [
            {"id": "1", "function": {"name": "f", "arguments": {}}}]},
         "messages[1].tool_calls[0].function.arguments"),
    ],
)  # fmt: skip
def test_a_bad_message_is_named(message: Any, param: str) -> None:
    problem = refused([ASK, message])
    assert problem.param == param
    assert param in problem.message


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file", "video_url"])
@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_what_is_not_text_is_refused(kind: str, role: str) -> None:
    message = {"role": role, "content": [{"type": kind, kind: {}}], "tool_call_id": "1"}
    problem = refused([ASK, message])
    assert "reads text only" in problem.message
    assert problem.param == "messages[1].content[0].type"


@pytest.mark.parametrize("messages", [None, [], {}, "hi", [{"role": "system", "content": ""}]])
def test_there_must_be_something_to_reply_to(messages: Any) -> None:
    assert requests.refused(PATH, {"model": "m", "messages": messages}).param == "messages"
