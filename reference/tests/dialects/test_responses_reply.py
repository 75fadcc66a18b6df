"""Responses answers, whole and streamed."""

import json
from typing import Any

import pytest
from hypothesis import given

from halogen_reference.dialects import responses
from halogen_reference.reply import Finish, ReplyEvent
from tests.dialects.requests import Body, events
from tests.dialects.responses_bodies import LOOK, read
from tests.dialects.samples import Calling, Think, run, runs

DELTAS = {
    "response.output_text.delta": "text",
    "response.reasoning_text.delta": "text",
    "response.function_call_arguments.delta": "arguments",
}


def whole(reply: list[ReplyEvent], **fields: Any) -> Any:
    return responses.reply(read(**fields), [reply])


def stream(reply: list[ReplyEvent]) -> bytes:
    writer = responses.stream(read())
    return b"".join(writer.feed(event) for event in reply) + writer.end()


def merged(sent: list[Body]) -> list[Body]:
    """The output a client builds from the events; it checks their order on the way."""
    output: list[Body] = []
    grown = ""
    for event in sent:
        kind = event["type"]
        if kind == "response.output_item.added":
            assert event["output_index"] == len(output)
            assert event["item"]["status"] == "in_progress"
            output.append(event["item"])
            grown = ""
        elif kind in DELTAS:
            assert event["item_id"] == output[-1]["id"]
            assert event["delta"] or event["logprobs"], "an empty delta"
            grown += event["delta"]
        elif kind.endswith((".output_text.done", ".reasoning_text.done")):
            assert event["text"] == grown
        elif kind.endswith("arguments.done"):
            assert event["arguments"] == grown
        elif kind == "response.content_part.done":
            assert event["part"]["text"] == grown
        elif kind == "response.output_item.done":
            assert event["item"]["id"] == output[-1]["id"]
            output[-1] = event["item"]
    return output


def without_ids(output: list[Body]) -> list[Body]:
    return [{**item, "id": ""} for item in output]


@given(runs())
def test_a_stream_adds_up_to_the_whole_answer(reply: list[ReplyEvent]) -> None:
    sent, answer = events(stream(reply)), whole(reply)
    last = sent[-1]["response"]
    output = merged(sent)
    assert output == last["output"], "the terminal event repeats what was streamed"
    assert without_ids(output) == without_ids(answer["output"])
    for name in ("status", "usage", "incomplete_details", "error"):
        assert last[name] == answer[name]
    assert len({item["id"] for item in output}) == len(output)


@given(runs())
def test_events_are_numbered_and_named(reply: list[ReplyEvent]) -> None:
    blocks = stream(reply).decode().strip("\n").split("\n\n")
    for number, block in enumerate(blocks):
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == "event: " + event["type"]
        assert event["sequence_number"] == number


@given(runs())
def test_the_answer_has_one_identity(reply: list[ReplyEvent]) -> None:
    ids = {event["response"]["id"] for event in events(stream(reply)) if "response" in event}
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("finish", "status"),
    [
        (Finish.END_OF_TURN, "completed"),
        (Finish.STOP_STRING, "completed"),
        (Finish.LENGTH, "incomplete"),
        (Finish.TOOL_CALLS, "completed"),
    ],
)
def test_status(finish: Finish, status: str) -> None:
    answer = whole(run("x", finish=finish))
    assert answer["status"] == status
    assert answer["output"][0]["status"] == status
    assert (answer["incomplete_details"] is None) == (status == "completed")


def test_only_the_item_that_was_cut_is_incomplete() -> None:
    cut = whole(run("a", Calling("1", "look", ("{",), cut=True), finish=Finish.LENGTH))
    assert [item["status"] for item in cut["output"]] == ["completed", "incomplete"]
    between = whole(run("a", Calling("1", "look", ("{}",)), finish=Finish.LENGTH))
    assert [item["status"] for item in between["output"]] == ["completed", "completed"]
    assert between["status"] == "incomplete"


def test_usage() -> None:
    assert whole(run("x"))["usage"] == {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 19,
    }
    assert events(stream(run("x")))[0]["response"]["usage"] is None


def test_an_empty_reply_is_an_empty_message() -> None:
    """KEEP-2: something the client can send back."""
    (item,) = whole(run())["output"]
    assert (item["type"], item["content"][0]["text"]) == ("message", "")


def test_settings_are_repeated() -> None:
    asked = {"tools": [LOOK], "metadata": {"a": "b"}, "temperature": 0, "instructions": "be kind"}
    answer = whole(run("x"), **asked)
    assert {name: answer[name] for name in asked} == asked
    plain = whole(run("x"))
    assert (plain["tools"], plain["tool_choice"], plain["temperature"]) == ([], "auto", 1.0)
    assert (plain["metadata"], plain["parallel_tool_calls"], plain["top_p"]) == ({}, True, 1.0)


def test_calls_have_two_ids() -> None:
    (item,) = whole(run(Calling("1", "look", ("{}",))))["output"]
    assert (item["id"], item["call_id"]) == ("fc_1", "call_1")


def test_items_keep_their_order() -> None:
    reply = run(Think("hm"), "a", Calling("1", "look", ("{}",)), "b")
    kinds = [item["type"] for item in whole(reply)["output"]]
    assert kinds == ["reasoning", "message", "function_call", "message"]


def test_signs_of_life_stand_between_the_first_event_and_the_last() -> None:
    """P19."""
    writer = responses.stream(read())
    assert writer.keepalive() == b""
    writer.feed(run("x")[0])
    (event,) = events(writer.keepalive())
    assert (event["type"], event["sequence_number"]) == ("response.in_progress", 2)
    writer.feed(run("x")[-1])
    assert writer.keepalive() == b""


def test_a_failure_is_the_terminal_event() -> None:
    """A top-level error would make one client raise and mean nothing to another."""
    writer = responses.stream(read())
    begun = run("ab", Think("hm"))[:-1]
    for event in begun:
        writer.feed(event)
    (failed,) = events(writer.failed("the engine stopped"))
    assert failed["type"] == "response.failed"
    assert "error" not in failed
    assert failed["response"]["status"] == "failed"
    assert failed["response"]["error"] == {"code": "server_error", "message": "the engine stopped"}
    assert [item["type"] for item in failed["response"]["output"]] == ["message"]
    assert writer.keepalive() == b""
