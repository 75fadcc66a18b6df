"""Messages: what the history means, and what is refused."""

from typing import Any

import pytest

from halogen_reference.call import Opening
from halogen_reference.conversation import (
    Assistant,
    System,
    ToolCall,
    ToolResult,
    User,
    canonical_json,
)
from tests.dialects import requests
from tests.dialects.messages_bodies import (
    ASK,
    PATH,
    assistant,
    read,
    refused,
    text,
    tool_result,
    tool_use,
    user,
)

MARK = {"cache_control": {"type": "ephemeral"}}


def items(*messages: Any, **fields: Any) -> Any:
    return read(list(messages), **fields).call.conversation.items


def test_every_block_has_its_place() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    assert items(
        user(text("a"), text(""), text("b")),
        assistant(thought, hidden, text("I "), text("look."), tool_use({"b": 1, "a": 2.0})),
        user(tool_result("sea"), text("and?"), text("now"), tool_result(None), text("!")),
        {"role": "system", "content": "be short"},
        ASK,
        system="be kind",
    ) == (
        System("be kind"),
        User("a\nb"),
        Assistant("I look.", "hm", (ToolCall("1", "look", '{"a":2,"b":1}'),)),
        ToolResult("1", "sea"),
        User("and?\nnow"),
        ToolResult("1", ""),
        User("!"),
        System("be short"),
        User("hi"),
    )


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_string_and_one_block_are_the_same(role: str) -> None:
    """FROM-8: marks come, move and go."""
    one = items(ASK, {"role": role, "content": "x"}, ASK)
    assert one == items(ASK, {"role": role, "content": [text("x")]}, ASK)
    assert one == items(ASK, {"role": role, "content": [text("x", **MARK)]}, ASK)


def test_marks_on_any_block_are_no_part_of_it() -> None:
    bare = items(user(tool_result([text("x")])), assistant(tool_use({"a": 1})), ASK)
    marked = items(
        user(tool_result([text("x", **MARK)], **MARK)), assistant(tool_use({"a": 1}, **MARK)), ASK
    )
    assert bare == marked


@pytest.mark.parametrize("content", ["x", [text("x")], [text(""), text("x")]])
def test_a_tool_result_is_a_string_or_blocks(content: Any) -> None:
    assert items(user(tool_result(content))) == (ToolResult("1", "x"),)


def test_is_error_false_is_the_same_as_absent() -> None:
    assert items(user(tool_result("x", is_error=False))) == items(user(tool_result("x")))
    assert items(user(tool_result("x", is_error=True))) == (ToolResult("1", "x", True),)


@pytest.mark.parametrize("content", ["", [], [text("")]])
def test_a_message_may_be_empty(content: Any) -> None:
    assert items({"role": "user", "content": content}) == (User(""),)
    silent = {"role": "assistant", "content": content}
    assert items(ASK, silent, ASK) == (User("hi"), Assistant(""), User("hi"))


def test_a_system_message_stays_where_it_is() -> None:
    """P10: text added at the end of the history leaves its start as it was."""
    first = items(ASK, {"role": "system", "content": [text("n left", **MARK)]}, system="be kind")
    second = items(
        ASK, {"role": "system", "content": "n left"}, assistant(text("x")), ASK, system="be kind"
    )
    assert second[: len(first)] == first
    assert first[-1] == System("n left")


@pytest.mark.parametrize("kind", ["search_result", "tool_reference"])
def test_descriptions_become_their_json(kind: str) -> None:
    block = {"type": kind, "title": "t", "content": [text("x", **MARK)], **MARK}
    plain = canonical_json({"type": kind, "title": "t", "content": [text("x")]})
    assert items(user(block)) == (User(plain),)
    assert items(user(tool_result([block]))) == (ToolResult("1", plain),)


def test_a_vendors_tools_in_an_old_turn_become_their_json() -> None:
    used = {"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "x", "content": []}
    (turn,) = items(ASK, assistant(used, found, text("So.")), ASK)[1:2]
    assert turn.text.startswith('{"id":"x"') and turn.text.endswith("So.")


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("hi", "messages[1]"),
        ({"content": "x"}, "messages[1].role"),
        ({"role": "tool", "content": "x"}, "messages[1].role"),
        ({"role": "user"}, "messages[1].content"),
        ({"role": "user", "content": 5}, "messages[1].content"),
        ({"role": "user", "content": ["x"]}, "messages[1].content[0]"),
        (user({"text": "x"}), "messages[1].content[0].type"),
        (user({"type": "text"}), "messages[1].content[0].text"),
        (user(tool_use({})), "messages[1].content[0].type"),
        (user({"type": "tool_result"}), "messages[1].content[0].tool_use_id"),
        (user(tool_result(5)), "messages[1].content[0].content"),
        (user(tool_result("x", is_error="no")), "messages[1].content[0].is_error"),
        (assistant(tool_result("x")), "messages[1].content[0].type"),
        (assistant(tool_use("{}")), "messages[1].content[0].input"),
        (assistant({"type": "tool_use", "id": "1", "input": {}}), "messages[1].content[0].name"),
        (assistant({"type": "thinking"}), "messages[1].content[0].thinking"),
        ({"role": "system", "content": [{"type": "image"}]}, "messages[1].content[0].type"),
    ],
)
def test_a_bad_message_is_named(message: Any, param: str) -> None:
    problem = refused([ASK, message, ASK])
    assert problem.param == param
    assert param in problem.message


@pytest.mark.parametrize("kind", ["image", "document", "container_upload"])
def test_what_is_not_text_is_refused(kind: str) -> None:
    for message in (user({"type": kind}), user(tool_result([{"type": kind}]))):
        assert "reads text only" in refused([message]).message


@pytest.mark.parametrize("messages", [None, [], {}, [{"role": "system", "content": ""}]])
def test_there_must_be_something_to_reply_to(messages: Any) -> None:
    body = {"model": "m", "max_tokens": 1, "messages": messages}
    assert requests.refused(PATH, body).param == "messages"


# MAP-7, P14: the attribution line

LINE = "x-anthropic-billing-header: cc_version=2.1; cch=1a2b3; later=x;"


@pytest.mark.parametrize(
    "system",
    [
        [text(LINE), text("be kind"), text("be short")],
        [text(LINE + "\nbe kind"), text("be short")],
        f"{LINE}\nbe kind\nbe short",
    ],
)
def test_the_attribution_line_is_taken_off(system: Any) -> None:
    request = read(system=system)
    assert request.call.conversation.items == (System("be kind\nbe short"), User("hi"))


@pytest.mark.parametrize("system", [LINE, [text(LINE)], [text(LINE, **MARK), text("")]])
def test_alone_it_leaves_no_system_prompt(system: Any) -> None:
    assert read(system=system).call.conversation.items == (User("hi"),)


def test_elsewhere_it_is_a_text_like_any_other() -> None:
    assert items({"role": "user", "content": LINE}) == (User(LINE),)
    assert items(ASK, {"role": "system", "content": LINE})[1] == System(LINE)
    quoted = [text("be kind"), text(LINE)]
    assert items(ASK, system=quoted)[0] == System(f"be kind\n{LINE}")


# BRANCH-2: a final assistant message


@pytest.mark.parametrize(
    "content", ["The sea is ", [text("The sea is ")], [text("The "), text("sea is ", **MARK)]]
)
def test_all_spellings_of_a_final_assistant_message_continue_it(content: Any) -> None:
    """BRANCH-6, and BRANCH-7: white space at the end is part of it."""
    call = read([ASK, {"role": "assistant", "content": content}]).call
    assert call.opening is Opening.CONTINUE
    assert call.conversation.items[-1] == Assistant("The sea is ")


def test_continuing_nothing_is_an_ordinary_reply() -> None:
    call = read([ASK, assistant()]).call
    assert (call.opening, call.conversation.items) == (Opening.REPLY, (User("hi"),))


def test_a_system_message_after_it_ends_the_turn() -> None:
    call = read([ASK, assistant(text("x")), {"role": "system", "content": "y"}]).call
    assert call.opening is Opening.REPLY


@pytest.mark.parametrize(
    ("messages", "word"),
    [
        ([ASK, assistant(text("x"), tool_use({}))], "tool calls"),
        ([ASK, assistant(tool_use({}))], "tool calls"),
        ([ASK, assistant(text("a")), assistant(text("b"))], "two or more assistant messages"),
        ([ASK, assistant({"type": "thinking", "thinking": "hm"})], "reasoning"),
    ],
)
def test_what_cannot_be_continued_is_refused(messages: list[Any], word: str) -> None:
    assert word in refused(messages).message


def test_thinking_and_a_final_assistant_message_exclude_each_other() -> None:
    """P12: the refusal names its reason; thinking that nobody asked for explicitly is no reason."""
    partial = [ASK, assistant(text("x"))]
    enabled = {"type": "enabled", "budget_tokens": 1024}
    assert "thinking" in refused(partial, thinking=enabled, max_tokens=2000).message
    for other in ({"type": "adaptive", "display": "omitted"}, {"type": "disabled"}):
        assert read(partial, thinking=other).call.opening is Opening.CONTINUE
