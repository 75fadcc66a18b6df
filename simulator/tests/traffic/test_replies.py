"""The server's replies take the place of the recorded ones, calls and results together."""

from typing import Any

import pytest

from halogen_conformance.drivers.conversation import Call
from halogen_conformance.drivers.reply import Reply
from halogen_simulator.traffic import items
from halogen_simulator.traffic.hindsight import Hindsight
from halogen_simulator.traffic.recording import Message, Recorded
from halogen_simulator.traffic.replies import NO_RESULT, Replies, said

TOOLS = [{"name": "Agent", "input_schema": {}}]
QUESTION = {"role": "user", "content": "Look twice."}


def request(n: int, *messages: Message, agent: str | None = None) -> Recorded:
    headers = {"x-api-key": "k", "x-claude-code-session-id": "s"}
    if agent:
        headers["x-claude-code-agent-id"] = agent
    body = {"tools": TOOLS, "messages": list(messages)}
    return Recorded(n, "POST", "/v1/messages", headers, body)


def call(id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Agent", "input": arguments}


def result(id: str, content: Any = "found") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


RECORDED = [words("reply-1: looking."), call("toolu_01A"), call("toolu_01B")]
NEXT = request(
    2,
    QUESTION,
    {"role": "assistant", "content": RECORDED},
    {"role": "user", "content": [result("toolu_01A"), result("toolu_01B", [words("two")])]},
)
FORK = request(
    3,
    QUESTION,
    {"role": "assistant", "content": [call("toolu_01B")]},
    {"role": "user", "content": [result("toolu_01B"), words("Do it.")]},
    agent="a",
)


def put(reply: Reply, record: Recorded = NEXT) -> list[Message]:
    """The messages of a request after the reply to request 1."""
    replies = Replies(Hindsight([request(1, QUESTION), NEXT, FORK]))
    assert replies.needed(record) == {1}
    replies.note(1, said(reply))
    return replies.put_into(record)


def calls(*ids: str) -> tuple[Call, ...]:
    return tuple(Call(id, "Agent", '{"x": 1}') for id in ids)


def test_as_many_calls_as_recorded() -> None:
    _, reply, results = put(Reply("I look.", calls=calls("c1", "c2")))
    assert reply["content"] == [words("I look."), call("c1", x=1), call("c2", x=1)]
    assert results["content"] == [result("c1"), result("c2", [words("two")])]


def test_fewer_calls_than_recorded() -> None:
    _, reply, results = put(Reply("", calls=calls("c1")))
    assert reply["content"] == [call("c1", x=1)]
    assert results["content"] == [result("c1"), words("two")]


def test_more_calls_than_recorded() -> None:
    _, _, results = put(Reply("", calls=calls("c1", "c2", "c3")))
    assert results["content"][2:] == [result("c3", NO_RESULT)]


def test_no_calls() -> None:
    _, reply, results = put(Reply("I will not."))
    assert reply["content"] == [words("I will not.")]
    assert results["content"] == [words("found"), words("two")]


def test_an_empty_reply() -> None:
    _, reply, _ = put(Reply())
    assert reply["content"] == ""


def test_reasoning_is_sent_back() -> None:
    _, reply, _ = put(Reply("I look.", "Hm."))
    assert [block["type"] for block in reply["content"]] == ["thinking", "text"]


def test_a_fork_keeps_to_its_own_call() -> None:
    _, reply, results = put(Reply("I look.", calls=calls("c1", "c2")), FORK)
    assert reply["content"] == [call("c2", x=1)]
    assert results["content"] == [result("c2"), words("Do it.")]


def test_a_fork_whose_call_the_server_did_not_make() -> None:
    _, reply, results = put(Reply("I look.", calls=calls("c1")), FORK)
    assert reply["content"] == [call("toolu_01B")]
    assert results["content"] == [result("toolu_01B"), words("Do it.")]


def test_a_call_that_was_cut_off() -> None:
    with pytest.raises(ValueError):
        said(Reply("", calls=(Call("c1", "Agent", '{"x": '),)))


def test_replies_from_before_the_recording_stay() -> None:
    messages: list[Message] = [
        {"role": "user", "content": "Earlier."},
        {"role": "assistant", "content": [words("said before")]},
        QUESTION,
    ]
    record = request(1, *messages)
    replies = Replies(Hindsight([record]))
    assert replies.needed(record) == set()
    assert replies.put_into(record) == messages


def test_a_reply_without_a_mark_is_known_by_its_place() -> None:
    reply = {"role": "assistant", "content": [call("x1")]}
    unmarked = request(2, QUESTION, reply, {"role": "user", "content": "?"})
    replies = Replies(Hindsight([request(1, QUESTION), unmarked]))
    assert replies.needed(unmarked) == {1}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


ASKED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
ON_RESPONSES = Recorded(
    2,
    "POST",
    "/v1/responses",
    {},
    {
        "input": [
            ASKED,
            item("reasoning", encrypted_content="words"),
            {"role": "assistant", "content": [item("output_text", text="reply-1: looking")]},
            item("function_call", call_id="toolu_0001_1", name="look", arguments="{}"),
            item("function_call", call_id="toolu_0001_2", name="look", arguments="{}"),
            item("function_call_output", call_id="toolu_0001_1", output="found"),
            item("function_call_output", call_id="toolu_0001_2", output=["two"]),
        ]
    },
)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_items_of_responses(count: int) -> None:
    ids = [f"c{number}" for number in range(1, count + 1)]
    assert items.repeated(ON_RESPONSES) == {1}
    asked, text, *rest = items.put_into(
        ON_RESPONSES, {1: said(Reply("I look.", calls=calls(*ids)))}
    )
    assert asked == ASKED and text["content"] == [item("output_text", text="I look.")]
    made = [one for one in rest if one["type"] == "function_call"]
    outputs = {
        one["call_id"]: one["output"] for one in rest if one["type"] == "function_call_output"
    }
    assert [(one["call_id"], one["arguments"]) for one in made] == [(id, '{"x": 1}') for id in ids]
    expected = dict(zip(ids, ["found", ["two"], NO_RESULT], strict=False))
    assert outputs == expected
    texts = [one["content"][0]["text"] for one in rest if one["type"] == "message"]
    assert texts == ["found", '["two"]'][count:]


def test_items_that_nobody_here_said() -> None:
    kept = [one for one in ON_RESPONSES.body["input"] if one.get("type") != "reasoning"]
    assert items.put_into(ON_RESPONSES, {}) == kept
