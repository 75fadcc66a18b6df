"""Replies compared with their twins, and conversations that grow and fork."""

from dataclasses import replace

import pytest

from halogen_conformance.drivers.conversation import Assistant, Call, Conversation, User
from halogen_conformance.drivers.reply import Finish, Reply, Usage

REPLY = Reply(
    text="Hello",
    reasoning="Hm.",
    calls=(Call("call_1", "look", '{"a": 1, "b": [1, 2]}'),),
    finish=Finish.TOOL_CALLS,
    usage=Usage(10, 7, 3),
    id="c1",
)


@pytest.mark.parametrize(
    "twin",
    [
        replace(REPLY, id="c2", usage=Usage(10, 0, 3)),
        replace(REPLY, calls=(Call("toolu_9", "look", '{"b":[1,2],"a":1}'),)),
    ],
)
def test_a_twin_may_differ_in_ids_cached_tokens_and_spelling(twin: Reply) -> None:
    assert REPLY.same_as(twin)


@pytest.mark.parametrize(
    "other",
    [
        replace(REPLY, text="Hello "),
        replace(REPLY, reasoning=""),
        replace(REPLY, finish=Finish.LENGTH),
        replace(REPLY, stop_sequence="X"),
        replace(REPLY, usage=Usage(11, 7, 3)),
        replace(REPLY, usage=None),
        replace(REPLY, calls=()),
        replace(REPLY, calls=(Call("call_1", "look", '{"a": 1, "b": [2, 1]}'),)),
        replace(REPLY, calls=(Call("call_1", "look", '{"a": 1, "b": [1'),)),
    ],
)
def test_nothing_else_may_differ(other: Reply) -> None:
    assert not REPLY.same_as(other)


def test_a_reply_goes_back_verbatim_with_reasoning_only_if_asked() -> None:
    assert REPLY.turn() == Assistant("Hello", REPLY.calls)
    assert REPLY.turn(reasoning=True) == Assistant("Hello", REPLY.calls, "Hm.")
    assert Reply().turn(reasoning=True) == Assistant("")


def test_conversations_fork_without_touching_each_other() -> None:
    parent = Conversation().system("s").user("a")
    left, right = parent.plus(REPLY.turn()).user("l"), parent.plus(REPLY.turn()).user("r")
    assert (len(parent.turns), len(left.turns)) == (2, 4)
    assert left != right
    assert left.cut(3) == right.cut(3)
    assert left.swap(3, User("r")) == right
    assert parent.branch("He").partial
    assert not parent.branch("He").user("x").partial
