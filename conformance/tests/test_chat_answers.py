"""Chat Completions answers: good ones fold to a reply, each breach is named."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers.conversation import Call
from halogen_conformance.drivers.reply import Finish, Reply, Usage
from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.schema import check_body, check_event

USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 3,
    "total_tokens": 13,
    "prompt_tokens_details": {"cached_tokens": 7},
}


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }


def call(index: int = 0, **function: str) -> dict[str, Any]:
    entry = {"index": index, "function": function}
    if "name" in function:
        entry |= {"id": f"call_{index}", "type": "function"}
    return {"tool_calls": [entry]}


def usage_chunk() -> dict[str, Any]:
    return chunk({}) | {"choices": [], "usage": USAGE}


TEXT = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "Hm."}),
    chunk({"content": "He"}),
    chunk({"content": "llo"}),
    chunk({}, "stop"),
    usage_chunk(),
]
CALLS = [
    chunk({"role": "assistant", "content": None}),
    chunk(call(0, name="look", arguments="")),
    chunk(call(0, arguments='{"a":')),
    chunk(call(0, arguments="1}")),
    chunk(call(1, name="look", arguments="{}")),
    chunk({}, "tool_calls"),
    usage_chunk(),
]


def events(chunks: list[dict[str, Any]]) -> list[SseEvent]:
    return [SseEvent(json.dumps(one)) for one in chunks] + [SseEvent("[DONE]")]


def fold(stream: list[SseEvent]) -> Reply:
    folding = CHAT.fold()
    for event in stream:
        folding.feed(event)
    return folding.finish()


def test_a_stream_of_text_folds_to_its_reply() -> None:
    reply = fold([SseEvent(comment="keepalive"), *events(TEXT)])
    assert reply.problems == ()
    assert (reply.text, reply.reasoning, reply.finish) == ("Hello", "Hm.", Finish.END)
    assert reply.usage == Usage(10, 7, 3)
    assert reply.usage.cost == 3
    assert (reply.id, reply.model) == ("c1", "m")


def test_a_stream_of_calls_folds_to_its_reply() -> None:
    reply = fold(events(CALLS))
    assert reply.problems == ()
    assert reply.calls == (Call("call_0", "look", '{"a":1}'), Call("call_1", "look", "{}"))
    assert reply.finish is Finish.TOOL_CALLS


def test_good_events_fit_the_schema() -> None:
    for event in events(TEXT + CALLS):
        assert check_event("chat", event, "event") == []


def test_several_choices_come_in_index_order() -> None:
    second = [chunk({"role": "assistant", "content": "B"}, index=1), chunk({}, "length", 1)]
    reply = fold(events([*TEXT[:1], *second, *TEXT[1:]]))
    assert reply.problems == ()
    assert [other.text for other in reply.others] == ["B"]
    assert reply.others[0].finish is Finish.LENGTH


def test_an_error_in_the_stream_ends_it() -> None:
    error = SseEvent('{"error": {"message": "boom", "type": "server_error", "code": "x"}}')
    reply = fold([*events(TEXT[:3])[:-1], error])
    assert reply.error is not None
    assert (reply.error.message, reply.error.in_band) == ("boom", True)
    assert (reply.text, reply.finish, reply.problems) == ("He", Finish.FAILED, ())


def _drop(index: int) -> Callable[[list[Any]], None]:
    return lambda chunks: chunks.pop(index)


def _insert(index: int, one: dict[str, Any]) -> Callable[[list[Any]], None]:
    return lambda chunks: chunks.insert(index, one)


@pytest.mark.parametrize(
    ("stream", "spoil", "said"),
    [
        (TEXT, _drop(0), "must carry role assistant"),
        (TEXT, _drop(4), "no finish_reason"),
        (TEXT, _drop(5), "usage chunk asked for is missing"),
        (TEXT, _insert(5, chunk({"content": "x"})), "content after finish_reason"),
        (TEXT, _insert(5, chunk({}, "stop")), "finish_reason a second time"),
        (TEXT, _insert(6, chunk({})), "after the usage chunk"),
        (TEXT, _insert(0, chunk({"role": "assistant"}, index=1)), "first appear in order"),
        (TEXT, lambda chunks: chunks[2].update(id="c2"), "id changed"),
        (TEXT, lambda chunks: chunks[4].update(usage=USAGE), "chunk without choices"),
        (CALLS, _insert(3, chunk(call(0, name="look"))), "id and name come once"),
        (CALLS, _insert(5, chunk(call(0, arguments=" "))), "finish one tool call before"),
        (CALLS, _drop(1), "needs id and name"),
        (CALLS, _insert(1, chunk(call(1, name="look"))), "no gaps"),
        (TEXT, lambda chunks: chunks.clear(), "no choice was sent"),
    ],
)
def test_each_breach_of_the_order_is_named(
    stream: list[Any], spoil: Callable[[list[Any]], None], said: str
) -> None:
    chunks = copy.deepcopy(stream)
    spoil(chunks)
    problems = [str(problem) for problem in fold(events(chunks)).problems]
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (events(TEXT)[:-1], "[DONE] is missing"),
        ([*events(TEXT), SseEvent("[DONE]")], "[DONE] a second time"),
        ([*events(TEXT), events(TEXT)[0]], "after [DONE]"),
        ([SseEvent("{"), *events(TEXT)], "not JSON"),
        ([SseEvent(retry="1"), *events(TEXT)], "only data: lines"),
        ([SseEvent(None), *events(TEXT)], "not JSON"),
        ([SseEvent('{"error": {"message": 1}}')], "not the OpenAI error shape"),
    ],
)
def test_each_breach_of_the_framing_is_named(stream: list[SseEvent], said: str) -> None:
    problems = [str(problem) for problem in fold(stream).problems]
    assert any(said in problem for problem in problems), problems


def test_a_whole_answer_reads_like_the_stream() -> None:
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hello",
                    "reasoning_content": "Hm.",
                    "refusal": None,
                },
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }
    assert check_body("chat", 200, body) == []
    assert CHAT.reply(body) == fold(events(TEXT))


@pytest.mark.parametrize("field", ["id", "object", "created", "model", "choices"])
def test_every_field_clients_need_is_missed(field: str) -> None:
    whole = chunk({"role": "assistant"}, "stop")
    del whole[field]
    assert field in str(check_event("chat", SseEvent(json.dumps(whole)), "event"))
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    del body[field]
    assert any(f"'{field}' is a required" in str(one) for one in check_body("chat", 200, body))


@pytest.mark.parametrize("body", [None, [], {}, {"choices": [3]}, {"choices": [{"message": 1}]}])
def test_nonsense_is_read_without_an_exception(body: Any) -> None:
    assert CHAT.reply(body).problems
    assert CHAT.error(body).problems
    assert check_body("chat", 200, body)
    assert check_body("chat", 400, body)


def test_more_cached_than_there_is_prompt_is_a_problem() -> None:
    spoilt = USAGE | {"prompt_tokens": 5}
    reply = fold(events([*TEXT[:-1], chunk({}) | {"choices": [], "usage": spoilt}]))
    assert "7 cached tokens of a prompt of 5" in str(reply.problems[0])
