"""Messages answers: good ones fold to a reply, each breach is named."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from halogen_conformance.drivers import MESSAGES
from halogen_conformance.drivers.conversation import Call
from halogen_conformance.drivers.reply import Finish, Reply, Usage
from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.schema import check_body, check_event

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {
        "input_tokens": 3,
        "output_tokens": 0,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 2,
    },
}


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **piece: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": piece}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


STREAM: list[dict[str, Any]] = [
    {"type": "message_start", "message": MESSAGE},
    {"type": "ping"},
    start(0, type="thinking", thinking="", signature=""),
    delta(0, type="thinking_delta", thinking="Hm."),
    delta(0, type="signature_delta", signature="s"),
    stop(0),
    start(1, type="text", text=""),
    delta(1, type="text_delta", text="He"),
    delta(1, type="text_delta", text="llo"),
    stop(1),
    start(2, type="tool_use", id="toolu_1", name="look", input={}),
    delta(2, type="input_json_delta", partial_json='{"a":'),
    delta(2, type="input_json_delta", partial_json=" 1}"),
    stop(2),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 3, "input_tokens": None},
    },
    {"type": "message_stop"},
]


def events(stream: list[dict[str, Any]]) -> list[SseEvent]:
    return [SseEvent(json.dumps(one), one["type"]) for one in stream]


def fold(stream: list[SseEvent]) -> Reply:
    folding = MESSAGES.fold()
    for event in stream:
        folding.feed(event)
    return folding.finish()


def test_a_stream_folds_to_its_reply() -> None:
    reply = fold(events(STREAM))
    assert reply.problems == ()
    assert (reply.text, reply.reasoning) == ("Hello", "Hm.")
    assert reply.calls == (Call("toolu_1", "look", '{"a": 1}'),)
    assert (reply.finish, reply.finish_word) == (Finish.TOOL_CALLS, "tool_use")


def test_usage_counts_fresh_read_and_written_tokens_as_prompt() -> None:
    usage = fold(events(STREAM)).usage
    assert usage == Usage(prompt=12, cached=7, output=3)
    assert usage is not None
    assert usage.cost == 5


def test_good_events_fit_the_schema() -> None:
    for event in events(STREAM):
        assert check_event("messages", event, "event") == []


def test_an_error_in_the_stream_ends_it() -> None:
    error = {"type": "error", "error": {"type": "api_error", "message": "boom"}}
    reply = fold(events([*STREAM[:8], error]))
    assert reply.error is not None
    assert reply.error.message == "boom"
    assert (reply.text, reply.finish, reply.problems) == ("He", Finish.FAILED, ())


def test_a_stop_string_is_told_apart() -> None:
    stream = copy.deepcopy(STREAM)
    del stream[10:14]
    stream[-2]["delta"] = {"stop_reason": "stop_sequence", "stop_sequence": "X"}
    reply = fold(events(stream))
    assert (reply.finish, reply.stop_sequence) == (Finish.STOP_STRING, "X")


def _drop(index: int) -> Callable[[list[Any]], None]:
    return lambda stream: stream.pop(index)


def _insert(index: int, one: dict[str, Any]) -> Callable[[list[Any]], None]:
    return lambda stream: stream.insert(index, one)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_drop(0), "before message_start"),
        (_insert(1, STREAM[0]), "message_start a second time"),
        (lambda s: s[0]["message"].pop("usage"), "needs message.usage.input_tokens"),
        (_drop(2), "which is not open"),
        (_drop(5), "before the last stopped"),
        (lambda s: s[6].update(index=5), "where 1 was due"),
        (_insert(9, delta(1, type="input_json_delta", partial_json="")), "in a block of type"),
        (_insert(9, delta(1, type="text_delta")), "without its text"),
        (_insert(9, delta(7, type="text_delta", text="")), "for block 7"),
        (_drop(13), "while a block is open"),
        (lambda s: s[12]["delta"].update(partial_json=" 1"), "not a JSON object"),
        (lambda s: s[10]["content_block"].pop("id"), "needs id and name"),
        (lambda s: s[14].pop("usage"), "needs usage.output_tokens"),
        (_drop(14), "message_stop before message_delta"),
        (_drop(15), "message_stop is missing"),
        (lambda s: s.append({"type": "ping"}), "after message_stop"),
        (lambda s: s[14].update(delta={}), "no stop_reason"),
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
        (SseEvent('{"type": "ping"}'), "must equal its type"),
        (SseEvent("[DONE]"), "not JSON"),
        (SseEvent('{"type": "ping"}', "ping", odd_lines=("x",)), "no SSE field"),
    ],
)
def test_each_breach_of_the_framing_is_named(extra: SseEvent, said: str) -> None:
    stream = events(STREAM)
    problems = [str(problem) for problem in fold([*stream[:1], extra, *stream[1:]]).problems]
    assert any(said in problem for problem in problems), problems


def test_a_whole_answer_reads_like_the_stream() -> None:
    body = MESSAGE | {
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": MESSAGE["usage"] | {"output_tokens": 3},
    }
    assert check_body("messages", 200, body) == []
    assert MESSAGES.reply(body) == fold(events(STREAM))


@pytest.mark.parametrize("field", sorted(MESSAGE))
def test_every_field_clients_need_is_missed(field: str) -> None:
    body = {key: value for key, value in MESSAGE.items() if key != field}
    start_event = {"type": "message_start", "message": body}
    assert field in str(check_event("messages", events([start_event])[0], "event"))
    assert any(f"'{field}' is a required" in str(one) for one in check_body("messages", 200, body))


@pytest.mark.parametrize("body", [None, [], {}, {"content": 1}, {"content": [1]}])
def test_nonsense_is_read_without_an_exception(body: Any) -> None:
    assert MESSAGES.reply(body).problems
    assert MESSAGES.error(body).problems
    assert check_body("messages", 200, body)
    assert check_body("messages", 401, body)
    assert check_body("count_tokens", 200, body)


def test_the_openai_error_shape_is_wrong_here() -> None:
    body = {"error": {"type": "x", "message": "y"}}
    assert "Anthropic" in str(MESSAGES.error(body).problems[0])
    assert check_body("messages", 400, body)
