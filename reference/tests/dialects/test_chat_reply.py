"""Chat Completions answers, whole and streamed."""

from typing import Any

import pytest
from hypothesis import given

from halogen_reference.dialects import chat, sse
from halogen_reference.dialects.chat import ChatRequest
from halogen_reference.reply import Admitted, Finish, ReplyEvent, TextDelta, Usage
from tests.dialects.chat_bodies import ASK, assistant, read
from tests.dialects.requests import Body, events
from tests.dialects.samples import USAGE, Calling, Think, run, runs, with_logprobs


def whole(request: ChatRequest, *replies: list[ReplyEvent]) -> Any:
    return chat.reply(request, replies)


def stream(request: ChatRequest, *replies: list[ReplyEvent]) -> bytes:
    writer = chat.stream(request)
    fed = [writer.feed(event, choice) for choice, reply in enumerate(replies) for event in reply]
    return b"".join(fed) + writer.end()


def merged(chunks: list[Body], choice: int = 0) -> Body:
    """What a client that concatenates deltas ends up with."""
    message: Body = {"content": "", "reasoning_content": "", "tool_calls": []}
    logprobs = []
    finish = None
    for chunk in chunks:
        for entry in chunk["choices"]:
            if entry["index"] != choice:
                continue
            delta = entry["delta"]
            message["content"] += delta.get("content") or ""
            message["reasoning_content"] += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls", []):
                if call["index"] == len(message["tool_calls"]):
                    message["tool_calls"].append({"id": "", "name": "", "arguments": ""})
                own = message["tool_calls"][call["index"]]
                own["id"] += call.get("id", "")
                own["name"] += call["function"].get("name", "")
                own["arguments"] += call["function"]["arguments"]
            if entry["logprobs"]:
                logprobs += entry["logprobs"]["content"]
            assert finish is None, "a choice goes on after its end"
            finish = entry["finish_reason"]
    return {**message, "logprobs": logprobs, "finish_reason": finish}


def flat(choice: Body) -> Body:
    message = choice["message"]
    return {
        "content": message["content"] or "",
        "reasoning_content": message.get("reasoning_content", ""),
        "tool_calls": [
            {"id": call["id"], **call["function"]} for call in message.get("tool_calls", [])
        ],
        "logprobs": (choice["logprobs"] or {"content": []})["content"],
        "finish_reason": choice["finish_reason"],
    }


@given(runs())
def test_a_stream_adds_up_to_the_whole_answer(reply: list[ReplyEvent]) -> None:
    request = read(stream=True, stream_options={"include_usage": True})
    chunks = events(stream(request, reply))
    answer = whole(request, reply)
    assert merged(chunks) == flat(answer["choices"][0])
    assert chunks[-1]["usage"] == answer["usage"]


@given(runs(), runs())
def test_choices_do_not_mix(one: list[ReplyEvent], two: list[ReplyEvent]) -> None:
    request = read(n=2)
    chunks = events(stream(request, one, two))
    answer = whole(request, one, two)
    for choice in (0, 1):
        assert merged(chunks, choice) == flat(answer["choices"][choice])


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (Finish.END_OF_TURN, "stop"),
        (Finish.STOP_STRING, "stop"),
        (Finish.LENGTH, "length"),
        (Finish.TOOL_CALLS, "tool_calls"),
    ],
)
def test_finish_reasons(finish: Finish, reason: str) -> None:
    assert whole(read(), run("x", finish=finish))["choices"][0]["finish_reason"] == reason


def test_usage_counts_the_prompt_once_and_every_output() -> None:
    answer = whole(read(n=2), run("a"), run("b", usage=Usage(12, 5, 8, 1)))
    assert answer["usage"] == {
        "prompt_tokens": 12,
        "completion_tokens": 15,
        "total_tokens": 27,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }


def test_content_is_null_only_beside_tool_calls() -> None:
    called = whole(read(), run(Calling("1", "look", ("{}",))))["choices"][0]["message"]
    assert called["content"] is None
    silent = whole(read(), run())["choices"][0]["message"]
    assert silent["content"] == ""
    assert "tool_calls" not in silent


def test_reasoning_can_be_left_out() -> None:
    request = read(include_reasoning=False)
    assert "reasoning_content" not in whole(request, run(Think("hm"), "x"))["choices"][0]["message"]
    assert b"hm" not in stream(request, run(Think("hm"), "x"))


def test_echo_puts_the_continued_text_first() -> None:
    request = read([ASK, assistant("The sea")], continue_final_message=True, echo=True, n=2)
    assert [
        choice["message"]["content"]
        for choice in whole(request, run(" is"), run(" was"))["choices"]
    ] == ["The sea is", "The sea was"]
    chunks = events(stream(request, run(" is"), run(" was")))
    assert [merged(chunks, choice)["content"] for choice in (0, 1)] == ["The sea is", "The sea was"]


def test_every_chunk_has_the_same_frame() -> None:
    chunks = events(stream(read(), run("a", "b")))
    frames = {(c["id"], c["created"], c["model"], c["object"]) for c in chunks}
    assert len(frames) == 1
    assert frames.pop()[2:] == ("m", "chat.completion.chunk")
    assert all("usage" not in chunk for chunk in chunks), "nobody asked for it"


def test_the_first_chunks_open_the_choices_in_order_whoever_is_admitted_first() -> None:
    writer = chat.stream(read(n=3))
    opened = events(writer.feed(Admitted(USAGE), 2))
    assert [chunk["choices"][0]["index"] for chunk in opened] == [0, 1, 2]
    assert all(chunk["choices"][0]["delta"]["role"] == "assistant" for chunk in opened)
    assert writer.feed(Admitted(USAGE), 0) == b""


def test_logprobs_stand_on_their_chunk_even_without_text() -> None:
    request = read(logprobs=True)
    writer = chat.stream(request)
    held = events(writer.feed(with_logprobs("", "a")))
    assert held[0]["choices"][0]["logprobs"]["content"][0]["token"] == "a"
    assert writer.feed(TextDelta("")) == b""


def test_done_comes_once_and_last() -> None:
    """P19."""
    sent = stream(read(stream_options={"include_usage": True}, stream=True), run("x"))
    assert sent.endswith(sse.DONE)
    assert sent.count(b"[DONE]") == 1


def test_a_failure_is_an_event_of_its_own() -> None:
    """P19: a frame clients parse, and no [DONE] that would make it a success."""
    failed = chat.stream(read()).failed("the engine stopped")
    assert events(failed) == [
        {
            "error": {
                "message": "the engine stopped",
                "type": "server_error",
                "code": None,
                "param": None,
            }
        }
    ]
    assert b"[DONE]" not in failed


def test_a_sign_of_life_is_a_comment() -> None:
    assert chat.stream(read()).keepalive() == b": keepalive\n\n"
