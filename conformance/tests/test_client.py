"""The client: answers read on their route, many at once, problems told apart."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers import client as client_module
from halogen_conformance.drivers.client import Client, Leave, together
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from tests.wire_server import STREAM_HEAD, Wire, answer, events, serving


def test_together_runs_all_at_once_and_keeps_their_order() -> None:
    meeting = threading.Barrier(8)

    def task(number: int) -> int:
        meeting.wait(10)  # passes only when all eight are here
        return number

    assert together(*[lambda number=number: task(number) for number in range(8)]) == [*range(8)]
    assert together() == []
    with pytest.raises(ZeroDivisionError):
        together(lambda: 1, lambda: 1 // 0)


def test_together_starts_no_task_before_all_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []

    class Slow(ThreadPoolExecutor):
        def submit(self, *args: Any, **more: Any) -> Any:
            log.append("submit")
            future = super().submit(*args, **more)
            time.sleep(0.05)
            return future

    monkeypatch.setattr(client_module, "ThreadPoolExecutor", Slow)
    together(*[lambda: log.append("run")] * 3)
    assert log == ["submit"] * 3 + ["run"] * 3


def chat_stream(*extra: bytes) -> bytes:
    head = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    usage = '"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}'
    return STREAM_HEAD.replace(
        b"\r\n\r\n", b"".join(b"\r\n" + line for line in extra) + b"\r\n\r\n"
    ) + events(
        head + '[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}',
        head + '[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        head + "[]," + usage + "}",
        "[DONE]",
    )


def test_an_answer_is_read_on_its_route() -> None:
    def script(wire: Wire) -> None:
        assert b"X-Halogen-From: a\r\nX-Halogen-Keep: b" in wire.request
        wire.send(chat_stream(b"x-halogen-from: used", b"X-Halogen-Keep: accepted"))

    with serving(script) as url:
        history = Conversation().user("hi")
        got = Client(url).ask(CHAT, history, Options(stream=True), start="a", keep="b")
    assert got.ok
    assert got.problems == ()
    assert (got.outcome, got.kept, got.reply.text, got.cost) == ("used", ("accepted",), "Hi", 3)


@pytest.mark.parametrize(
    ("extra", "outcome"),
    [
        ((), None),
        ((b"X-Halogen-From: Used",), None),
        ((b"X-Halogen-From: used", b"X-Halogen-From: used"), None),
        ((b"X-Halogen-From: unknown",), "unknown"),
    ],
)
def test_only_exactly_one_legal_outcome_counts(
    extra: tuple[bytes, ...], outcome: str | None
) -> None:
    with serving(lambda wire: wire.send(chat_stream(*extra))) as url:
        got = Client(url).ask(CHAT, Conversation().user("hi"), Options(stream=True))
    assert got.outcome == outcome


def test_a_stream_nobody_asked_for_and_a_cut_one_are_problems() -> None:
    with serving(lambda wire: wire.send(chat_stream())) as url:
        got = Client(url).ask(CHAT, Conversation().user("hi"))
        assert "no stream was asked for" in str(got.problems)
        left = Client(url).ask(
            CHAT, Conversation().user("hi"), Options(stream=True), leave=Leave(after=1)
        )
    assert left.problems == ()
    assert (left.reply.text, left.ok) == ("Hi", False)
    torn = chat_stream()[:-1]
    with serving(lambda wire: wire.send(torn)) as url:
        got = Client(url).ask(CHAT, Conversation().user("hi"), Options(stream=True))
    assert "no empty line after it" in str(got.problems)


def _send(data: bytes, wire: Wire) -> None:
    wire.send(data)


def test_an_error_answer_is_read_and_held_against_its_shape() -> None:
    good = b'{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}'
    head = b"HTTP/1.1 400 Bad\r\ncontent-type: application/json"
    for body, clean in ((good, True), (b"{}", False), (b"<html>", False)):
        with serving(partial(_send, answer(body, head))) as url:
            got = Client(url).ask(CHAT, Conversation().user("hi"))
        assert (got.problems == ()) is clean
        assert not got.ok
        assert got.reply.error is not None
