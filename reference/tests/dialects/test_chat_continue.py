"""BRANCH-1: a Chat Completions request that continues its final message."""

from typing import Any

import pytest

from halogen_reference.call import Opening
from halogen_reference.conversation import Assistant, User
from halogen_reference.dialects.chat import ChatRequest
from tests.dialects.chat_bodies import ASK, assistant, parts, read, refused, tool_call


def carry_on(*messages: Any, **fields: Any) -> ChatRequest:
    return read(list(messages), continue_final_message=True, **fields)


@pytest.mark.parametrize("content", ["The sea is ", parts("The sea is "), parts("The ", "sea is ")])
def test_all_spellings_of_a_partial_message_continue_it(content: Any) -> None:
    """BRANCH-1, BRANCH-6, BRANCH-7 (white space at the end is part of it)."""
    call = carry_on(ASK, assistant(content)).call
    assert call.opening is Opening.CONTINUE
    assert call.conversation.items[-1] == Assistant("The sea is ")


def test_white_space_is_a_text_like_any_other() -> None:
    """BRANCH-7."""
    call = carry_on(ASK, assistant("\n")).call
    assert (call.opening, call.conversation.items[-1]) == (Opening.CONTINUE, Assistant("\n"))


def test_continuing_nothing_is_an_ordinary_reply() -> None:
    call = carry_on(ASK, assistant("")).call
    assert (call.opening, call.conversation.items) == (Opening.REPLY, (User("hi"),))


def test_without_the_flag_a_final_assistant_message_is_a_finished_turn() -> None:
    call = read([ASK, assistant("x")]).call
    assert (call.opening, call.conversation.items[-1]) == (Opening.REPLY, Assistant("x"))


def test_the_generation_prompt_may_be_left_out() -> None:
    assert read(add_generation_prompt=False).call.opening is Opening.BARE
    assert read(add_generation_prompt=True).call.opening is Opening.REPLY
    call = carry_on(ASK, assistant("x"), add_generation_prompt=False).call
    assert call.opening is Opening.CONTINUE


@pytest.mark.parametrize(
    ("messages", "word"),
    [
        ([ASK], "must be 'assistant'"),
        ([ASK, assistant(None)], "no text"),
        ([ASK, assistant([])], "no text"),
        ([ASK, assistant("x", tool_calls=[tool_call("{}")])], "tool calls"),
        ([ASK, assistant(None, tool_calls=[tool_call("{}")])], "tool calls"),
        ([ASK, assistant("a"), assistant("b")], "Cannot have 2 or more assistant messages"),
        ([ASK, assistant("a"), assistant("")], "Cannot have 2 or more assistant messages"),
        ([ASK, assistant("", reasoning="hm")], "reasoning"),
    ],
)
def test_what_cannot_be_continued_is_refused(messages: list[Any], word: str) -> None:
    """P12: refusals name their reason."""
    problem = refused(messages, continue_final_message=True)
    assert word in problem.message
    assert problem.param and problem.param.startswith("messages")


def test_both_flags_together_are_refused() -> None:
    problem = refused(
        [ASK, assistant("x")], continue_final_message=True, add_generation_prompt=True
    )
    assert "Cannot set both `continue_final_message` and `add_generation_prompt`" in problem.message


def test_echo_is_the_continued_text() -> None:
    assert carry_on(ASK, assistant("x "), echo=True).echo == "x "
    assert carry_on(ASK, assistant("x "), echo=False).echo == ""
    assert read([ASK, assistant("x ")], echo=True).echo == "", "nothing is continued here"
