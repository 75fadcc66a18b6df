"""Responses answers: good ones fold to a reply, each breach is named."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from halogen_conformance.drivers import RESPONSES
from halogen_conformance.drivers.conversation import Call
from halogen_conformance.drivers.reply import Finish, Reply, Usage
from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.schema import check_body, check_event

USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 0},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 13,
}


def response(status: str, output: list[Any], usage: Any = None) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
        "error": None,
    }


def part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def message(status: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": status,
        "content": list(parts),
    }


def function(status: str, arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "look",
        "arguments": arguments,
        "status": status,
    }


OUTPUT = [message("completed", part("Hello")), function("completed", '{"a":1}')]


def _text(kind: str, **more: Any) -> dict[str, Any]:
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return {"type": f"response.{kind}", **where, **more}


def _call(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "type": f"response.function_call_arguments.{kind}",
        "item_id": "fc_1",
        "output_index": 1,
        **more,
    }


def _item(kind: str, index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": item}


STREAM: list[dict[str, Any]] = [
    {"type": "response.created", "response": response("in_progress", [])},
    {"type": "response.in_progress", "response": response("in_progress", [])},
    _item("added", 0, message("in_progress")),
    _text("content_part.added", part=part("")),
    _text("output_text.delta", delta="He"),
    {"type": "keepalive"},
    _text("output_text.delta", delta="llo"),
    _text("output_text.done", text="Hello"),
    _text("content_part.done", part=part("Hello")),
    _item("done", 0, OUTPUT[0]),
    _item("added", 1, function("in_progress", "")),
    _call("delta", delta='{"a":'),
    _call("delta", delta="1}"),
    _call("done", arguments='{"a":1}', name="look"),
    _item("done", 1, OUTPUT[1]),
    {"type": "response.completed", "response": response("completed", OUTPUT, USAGE)},
]


def events(stream: list[dict[str, Any]]) -> list[SseEvent]:
    numbered = [{"sequence_number": number, **one} for number, one in enumerate(stream)]
    return [SseEvent(json.dumps(one), one["type"]) for one in numbered]


def fold(stream: list[SseEvent]) -> Reply:
    folding = RESPONSES.fold()
    for event in stream:
        folding.feed(event)
    return folding.finish()


def test_a_stream_folds_to_its_reply() -> None:
    reply = fold([*events(STREAM), SseEvent("[DONE]")])
    assert reply.problems == ()
    assert (reply.text, reply.usage) == ("Hello", Usage(10, 7, 3))
    assert reply.calls == (Call("call_1", "look", '{"a":1}'),)
    assert reply.finish is Finish.TOOL_CALLS


def test_good_events_fit_the_schema() -> None:
    for event in events(STREAM):
        assert check_event("responses", event, "event") == []


def test_created_and_completed_alone_are_enough() -> None:
    reply = fold(events([STREAM[0], STREAM[-1]]))
    assert (reply.problems, reply.text) == ((), "Hello")


def test_a_whole_answer_reads_like_the_stream() -> None:
    body = response("completed", OUTPUT, USAGE)
    assert check_body("responses", 200, body) == []
    assert RESPONSES.reply(body) == fold(events(STREAM))


def test_reasoning_is_read_from_content_and_summary() -> None:
    thought = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "S."}],
        "content": [{"type": "reasoning_text", "text": "Hm."}],
    }
    assert RESPONSES.reply(response("completed", [thought])).reasoning == "S.Hm."


def test_incomplete_is_the_limit_and_failed_is_an_error() -> None:
    cut = response("incomplete", [message("incomplete", part("H"))])
    cut["incomplete_details"] = {"reason": "max_output_tokens"}
    reply = RESPONSES.reply(cut)
    assert (reply.finish, reply.finish_word) == (Finish.LENGTH, "incomplete: max_output_tokens")
    failed = response("failed", []) | {"error": {"code": "server_error", "message": "boom"}}
    stream = fold(events([STREAM[0], {"type": "response.failed", "response": failed}]))
    assert stream.error is not None
    assert (stream.error.message, stream.finish) == ("boom", Finish.FAILED)
    assert stream.problems == ()


def test_what_arrived_of_a_cut_stream_is_kept() -> None:
    reply = fold(events(STREAM[:5]))
    assert (reply.text, reply.finish) == ("He", None)
    assert "no terminal event" in str(reply.problems[-1])


def _drop(index: int) -> Callable[[list[Any]], None]:
    return lambda stream: stream.pop(index)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_drop(0), "response.created must be first"),
        (lambda s: s[1]["response"].update(id="resp_2"), "response.id changed"),
        (_drop(2), "which was not added"),
        (_drop(3), "before its content_part.added"),
        (_drop(4), "not the sum of its deltas"),
        (_drop(9), "never got its done event"),
        (lambda s: s[10].update(output_index=4), "a gap"),
        (lambda s: s[4].update(item_id="msg_9"), "not that of the item added"),
        (lambda s: s.insert(10, s[4]), "after the item's done"),
        (lambda s: s[9]["item"].update(id="msg_9"), "the item's id changed"),
        (lambda s: s[14]["item"].update(call_id="call_9"), "the item's call_id changed"),
        (lambda s: s[14]["item"].update(arguments="{}"), "arguments are not the sum"),
        (lambda s: s[13].update(arguments="{}"), "not the sum of its deltas"),
        (lambda s: s[15]["response"].update(output=OUTPUT[:1]), "differ in number"),
        (
            lambda s: s[15]["response"]["output"].__setitem__(0, message("completed", part("X"))),
            "final output and streamed text differ",
        ),
        (lambda s: s[15]["response"].update(status="incomplete"), "status 'incomplete' in"),
        (lambda s: s[15]["response"].update(usage=None), "usage is missing"),
        (_drop(15), "no terminal event"),
        (lambda s: s.append({"type": "keepalive"}), "after the terminal event"),
        (lambda s: s.append({"type": "error", "message": "x"}), "bare error event"),
        (lambda s: s[3].update(sequence_number=9), "sequence_number 9 where 3"),
        (lambda s: s[3].update(sequence_number=None), "sequence_number is missing"),
    ],
)
def test_each_breach_of_the_order_is_named(spoil: Callable[[list[Any]], None], said: str) -> None:
    stream = copy.deepcopy(STREAM)
    spoil(stream)
    problems = [str(problem) for problem in fold(events(stream)).problems]
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (SseEvent('{"type": "keepalive", "sequence_number": 16}'), "must equal its type"),
        (SseEvent("{"), "not JSON"),
        (SseEvent(id="1"), "only event: and data:"),
    ],
)
def test_each_breach_of_the_framing_is_named(extra: SseEvent, said: str) -> None:
    problems = [str(problem) for problem in fold([*events(STREAM), extra]).problems]
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize("field", sorted(response("", []).keys() - {"usage", "error"}))
def test_every_field_clients_need_is_missed(field: str) -> None:
    body = response("completed", OUTPUT, USAGE)
    del body[field]
    event = {"type": "response.completed", "response": body}
    assert field in str(check_event("responses", events([event])[0], "event"))
    assert f"'{field}' is a required" in str(check_body("responses", 200, body)[0])


@pytest.mark.parametrize("body", [None, [], {}, {"output": [1, {"type": "message"}]}])
def test_nonsense_is_read_without_an_exception(body: Any) -> None:
    assert RESPONSES.reply(body).problems
    assert RESPONSES.error(body).problems
    assert check_body("responses", 200, body)
