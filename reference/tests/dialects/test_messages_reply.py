"""Messages answers, whole and streamed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from halogen_reference.dialects import messages
from halogen_reference.dialects.messages.arguments import ObjectText
from halogen_reference.reply import Finish, ReplyEvent, Usage
from tests.dialects.messages_bodies import read
from tests.dialects.requests import Body, events
from tests.dialects.samples import USAGE, Calling, Think, json_values, run, runs, with_logprobs


def whole(reply: list[ReplyEvent]) -> Any:
    return messages.reply(read(), [reply])


def stream(reply: list[ReplyEvent]) -> bytes:
    writer = messages.stream(read())
    return b"".join(writer.feed(event) for event in reply) + writer.end()


def merged(sent: list[Body]) -> Body:
    """What a client makes of the events; it checks their order on the way."""
    assert sent[0]["type"] == "message_start"
    assert sent[-2]["type"] == "message_delta" and sent[-1]["type"] == "message_stop"
    message: Body = sent[0]["message"]
    content = message["content"]
    partial = ""
    is_open = False
    for event in sent[1:-2]:
        if event["type"] == "content_block_start":
            assert not is_open and event["index"] == len(content)
            content.append(event["content_block"])
            is_open, partial = True, ""
            continue
        assert is_open and event["index"] == len(content) - 1
        block = content[-1]
        if event["type"] == "content_block_stop":
            is_open = False
            if partial:
                block["input"] = from_json(partial, allow_partial=True, allow_inf_nan=False)
            continue
        delta = event["delta"]
        kind = delta.pop("type")
        if kind == "input_json_delta":
            partial += delta["partial_json"]
            continue
        ((name, value),) = delta.items()
        assert value, "an empty delta"
        block[name] += value
    assert not is_open
    return {**message, **sent[-2]["delta"], "usage": sent[-2]["usage"]}


@given(runs())
def test_a_stream_adds_up_to_the_whole_answer(reply: list[ReplyEvent]) -> None:
    streamed, answer = merged(events(stream(reply))), whole(reply)
    assert {**streamed, "id": ""} == {**answer, "id": ""}
    assert all(block.get("text") != "" for block in answer["content"]), "an empty text block"


@given(runs())
def test_every_event_is_named_after_its_type(reply: list[ReplyEvent]) -> None:
    """The SDK drops an event without a name in silence."""
    for block in stream(reply).decode().strip("\n").split("\n\n"):
        name, data = block.split("\n")
        assert name == "event: " + json.loads(data.removeprefix("data: "))["type"]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (Finish.END_OF_TURN, "end_turn"),
        (Finish.STOP_STRING, "stop_sequence"),
        (Finish.LENGTH, "max_tokens"),
        (Finish.TOOL_CALLS, "tool_use"),
    ],
)
def test_stop_reasons(finish: Finish, reason: str) -> None:
    assert whole(run("x", finish=finish))["stop_reason"] == reason


def test_the_stop_string_is_told() -> None:
    reply = run("x", finish=Finish.STOP_STRING, stop_string="END")
    assert whole(reply)["stop_sequence"] == "END"
    assert whole(run("x"))["stop_sequence"] is None


def test_cached_tokens_are_no_input_tokens() -> None:
    usage = {
        "input_tokens": 7,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5,
        "output_tokens": 7,
    }
    assert whole(run("x"))["usage"] == usage
    start, *_, end, _ = events(stream(run("x")))
    assert start["message"]["usage"] == {**usage, "output_tokens": 0}
    assert end["usage"] == usage


def test_the_last_counts_are_the_exact_ones() -> None:
    """What was expected of the kept state may turn out less."""
    reply = [*run("x")[:-1], run("x", usage=Usage(12, 0, 7))[-1]]
    start, *_, end, _ = events(stream(reply))
    assert start["message"]["usage"]["cache_read_input_tokens"] == 5
    assert end["usage"]["cache_read_input_tokens"] == 0


def test_an_empty_reply_has_no_block() -> None:
    assert whole(run())["content"] == []


def test_a_token_without_text_is_no_block() -> None:
    reply = run(Think("h"), with_logprobs("", "a"), Think("m"))
    assert [block["thinking"] for block in whole(reply)["content"]] == ["hm"]


@pytest.mark.parametrize("cut", [False, True])
def test_what_is_left_of_long_arguments_goes_out_with_their_end(cut: bool) -> None:
    pieces = ('{"a": 1, "b": "' + "word " * 20, 'x", "c": 2', "}")
    reply = run(Calling("1", "look", pieces, cut=cut), finish=Finish.LENGTH)
    assert merged(events(stream(reply)))["content"][0]["input"] == json.loads("".join(pieces))


def test_blocks_keep_their_order() -> None:
    reply = run(Think("hm"), "a", Calling("1", "look", ("{}",)), "b")
    kinds = [block["type"] for block in whole(reply)["content"]]
    assert kinds == ["thinking", "text", "tool_use", "text"]


def test_pings_wait_for_the_start() -> None:
    """P19."""
    writer = messages.stream(read())
    assert writer.keepalive() == b""
    writer.feed(run("x")[0])
    assert writer.keepalive() == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_a_failure_is_one_error_event() -> None:
    (event,) = events(messages.stream(read()).failed("the engine stopped"))
    assert event == {
        "type": "error",
        "error": {"type": "api_error", "message": "the engine stopped"},
    }


# Arguments


def fed(*pieces: str) -> tuple[str, Any]:
    arguments = ObjectText()
    sent = "".join(arguments.feed(piece) for piece in pieces) + arguments.finish()
    return sent, arguments.value()


@pytest.mark.parametrize(
    ("pieces", "sent", "value"),
    [
        (('{"a"', ": 1}"), '{"a": 1}', {"a": 1}),
        (("\n ", '{"a": 1}', "\n"), '{"a": 1}', {"a": 1}),
        (('{"a": 1', "}} and"), '{"a": 1}', {"a": 1}),
        (('{"a": 1, "b": "x',), '{"a": 1, "b": "x', {"a": 1}),
        (('{"a": 1', " oops", "}"), '{"a": 1', {"a": 1}),
        (('{"a": 1', ",", '"b"', ' "c"}'), '{"a": 1,"b"', {"a": 1}),
        (('{"a": "\\ud83d', '\\ude00"}'), '{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (('{"a": "\\ud83d', 'x"}'), '{"a": "\\ud83d', {}),
        (("[1]",), "", {}),
        (("go",), "", {}),
        (('{"a": NaN}',), "", {}),
        ((), "", {}),
        ((" ",), "", {}),
    ],
)
def test_only_the_beginning_of_an_object_is_sent(
    pieces: tuple[str, ...], sent: str, value: Any
) -> None:
    assert fed(*pieces) == (sent, value)


@given(
    st.dictionaries(st.text(max_size=8), json_values, max_size=4),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_good_object_goes_through_whole(value: Any, size: int, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert fed(*pieces) == (text, value)


@given(
    st.text(st.sampled_from('{}[]":, \\u1dtrefalsn-.+E0x'), max_size=30).map("{{{}".format),
    st.lists(st.integers(1, 9), max_size=8),
)
def test_what_is_sent_can_always_become_an_object(text: str, sizes: list[int]) -> None:
    """Whatever the model writes: closing what is open makes it parse."""
    pieces = []
    for size in [*sizes, len(text)]:
        pieces.append(text[:size])
        text = text[size:]
    sent, value = fed(*pieces)
    assert isinstance(value, dict)
    assert not sent or completable(sent), sent


def completable(text: str) -> bool:
    """Whether some ending makes it JSON, by the standard library's parser."""
    closers = ""
    in_string = escaped = False
    for char in text:
        if in_string:
            escaped, in_string = char == "\\" and not escaped, char != '"' or escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            closers = {"{": "}", "[": "]"}[char] + closers
        elif char in "}]":
            closers = closers[1:]
    endings = ["", "0", ":0", '"a":0', "rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"]
    rests = ["", "n", "0", "00", "000", "0000"]
    if in_string:
        endings = [f'{rest}"{end}' for rest in rests for end in ("", ":0")]
    return any(is_json(text + end + closers) for end in endings)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_long_arguments_are_checked_in_batches_that_grow() -> None:
    """Checking at every piece would take time squared in the length."""
    arguments = ObjectText()
    pieces = ['{"a": "', *["word "] * 4000, '"}']
    sent = [part for piece in pieces if (part := arguments.feed(piece))]
    sent.append(arguments.finish())
    assert "".join(sent) == "".join(pieces)
    assert len(sent) < 120


def test_usage_of_the_samples_is_telling() -> None:
    assert USAGE.cached not in (0, USAGE.prompt), "or the tests above could not see the difference"
