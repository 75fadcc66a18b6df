"""Exchanges against servers that misbehave on real sockets: a typed ending, never a hang."""

import socket
import threading

import pytest

from halogen_conformance.drivers.client import Client, Leave
from halogen_conformance.drivers.connection import Limits, Origin, wire_bytes
from halogen_conformance.drivers.driver import Request
from halogen_conformance.drivers.exchange import Ending, Exchange
from halogen_conformance.drivers.sse import SseEvent
from tests.wire_server import STREAM_HEAD, Script, Wire, answer, events, serving

QUICK = Limits(connect_s=2, idle_s=0.3, total_s=1)
PATIENT = Limits(connect_s=5, idle_s=10, total_s=20)
GET = Request("GET", "/halogen/handles", route="handles")


def ask(script: Script, limits: Limits = PATIENT, request: Request = GET) -> Exchange:
    with serving(script) as url:
        return Client(url, limits=limits).send(request)


def test_a_whole_answer_is_complete() -> None:
    exchange = ask(lambda wire: wire.send(answer(b'{"data": []}')))
    assert (exchange.ending, exchange.status, exchange.error) == (Ending.COMPLETE, 200, "")
    assert exchange.json() == {"data": []}
    assert exchange.first_byte_s is not None


@pytest.mark.parametrize(
    "pieces",
    [
        (b"",),
        (b"HTTP/1.1 200 OK\r\nconte",),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",),
    ],
)
def test_death_in_the_middle_is_died(pieces: tuple[bytes, ...]) -> None:
    exchange = ask(lambda wire: wire.send(*pieces))
    assert exchange.ending is Ending.DIED
    assert exchange.error


@pytest.mark.parametrize(
    "wire",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x16\x03\x01\x00\x05hello",
        b"H",
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n",
    ],
)
def test_what_is_not_http_is_garbage_and_told_at_once(wire: bytes) -> None:
    def script(conn: Wire) -> None:
        conn.send(wire, b"\x00\x01\x02")
        conn.wait_for_hang_up()

    exchange = ask(script)
    assert exchange.ending is Ending.GARBAGE
    assert "not HTTP" in exchange.error


def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    exchange = Client(f"http://127.0.0.1:{port}", limits=QUICK).send(GET)
    assert exchange.ending is Ending.UNREACHABLE
    assert str(port) in exchange.error


def test_a_silent_server_is_idle() -> None:
    exchange = ask(Wire.wait_for_hang_up, QUICK)
    assert (exchange.ending, exchange.status) == (Ending.IDLE, None)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nx-a: ", STREAM_HEAD])
def test_an_endless_drip_is_overdue(head: bytes) -> None:
    def script(wire: Wire) -> None:
        if head:
            wire.send(head)
            wire.drip(b"x", 0.05)
        else:
            wire.send(b"HTTP/1.1 200 OK\r\n\r\n")
            wire.drip(b"x", 0.05)

    exchange = ask(script, QUICK)
    assert exchange.ending is Ending.OVERDUE
    assert "1 s" in exchange.error


def test_the_total_deadline_holds_however_long_the_idle_one_is() -> None:
    exchange = ask(Wire.wait_for_hang_up, Limits(idle_s=600, total_s=0.3))
    assert exchange.ending is Ending.OVERDUE


def flood(wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\n\r\n")
    wire.drip(b"x" * 1000, 0)


def test_a_flood_is_too_large() -> None:
    assert ask(flood, Limits(max_bytes=1_000_000)).ending is Ending.TOO_LARGE


def test_a_flood_is_overdue_as_well() -> None:
    assert ask(flood, Limits(total_s=0.3, max_bytes=10**9)).ending is Ending.OVERDUE


def test_an_answer_before_the_request_is_read_is_still_an_answer() -> None:
    def script(wire: Wire) -> None:
        wire.send(answer(b"{}", b"HTTP/1.1 413 Too Large"))
        wire.wait_for_hang_up()

    request = Request("POST", "/x", body=b"x" * 3_000_000)
    exchange = ask(script, request=request)
    assert exchange.status == 413


def test_informational_responses_are_skipped() -> None:
    exchange = ask(lambda wire: wire.send(b"HTTP/1.1 103 Hints\r\n\r\n", answer(b"{}")))
    assert exchange.status == 200


def test_a_stream_is_read_event_by_event() -> None:
    gate = threading.Event()
    seen: list[SseEvent] = []

    def script(wire: Wire) -> None:
        wire.send(STREAM_HEAD, events("1")[:4])
        wire.send(events("1")[4:])
        gate.wait(10)
        wire.send(events("2"))

    def on_event(event: SseEvent) -> bool:
        seen.append(event)
        gate.set()  # the second event is sent only after the first was delivered
        return True

    with serving(script) as url:
        exchange = Client(url).send(GET, on_event=on_event)
    assert [event.data for event in seen] == ["1", "2"]
    assert [timed.event for timed in exchange.events] == seen
    assert exchange.events[0].seconds <= exchange.events[1].seconds
    assert "".join(text for _, text in exchange.frames) == "data: 1\n\ndata: 2\n\n"


@pytest.mark.parametrize("after", [-1, 0, 1, 2])
def test_the_suite_can_hang_up_when_it_wants_to(after: int) -> None:
    hung_up = threading.Event()

    def script(wire: Wire) -> None:
        try:
            wire.send(STREAM_HEAD, events("1"), events("2"))
            wire.wait_for_hang_up()
        finally:  # sending fails when the client was quicker
            hung_up.set()

    with serving(script) as url:
        exchange = Client(url).send(GET, leave=Leave(after=after))
        assert hung_up.wait(10)
    assert exchange.ending is Ending.LEFT
    assert len(exchange.events) == max(after, 0)
    assert (exchange.status is None) == (after == -1)
    assert exchange.left_after is not None


def test_the_suite_can_hang_up_by_the_clock_and_by_a_callback() -> None:
    def script(wire: Wire) -> None:
        wire.send(STREAM_HEAD, events("1"))
        wire.wait_for_hang_up()

    with serving(script) as url:
        client = Client(url)
        assert client.send(GET, leave=Leave(after_s=0.2)).ending is Ending.LEFT
        assert client.send(GET, on_event=lambda _: False).ending is Ending.LEFT


def test_secrets_are_hidden_when_they_are_recorded() -> None:
    recorded: list[Exchange] = []

    def script(wire: Wire) -> None:
        assert b"Bearer sesame-open" in wire.request
        wire.send(answer(b"{}", b"HTTP/1.1 200 OK\r\nset-cookie: id=sesame-open"))

    with serving(script) as url:
        client = Client(url, key="sesame-open", recorder=recorded.append)
        client.send(GET.plus(("X-API-Key", "sesame-open")))
    assert ("authorization", "Bearer [hidden]") in recorded[0].request_headers
    assert ("X-API-Key", "[hidden]") in recorded[0].request_headers
    assert "sesame" not in repr(recorded[0])


def test_any_header_byte_goes_out_as_it_is_and_line_breaks_do_not() -> None:
    got: list[bytes] = []

    def script(wire: Wire) -> None:
        got.append(wire.request)
        wire.send(answer(b"{}"))

    odd = (("X-Halogen-From", b"\xff\x01 ../x "), ("X-Halogen-From", ""), ("X", "é"))
    with serving(script) as url:
        Client(url).send(GET.plus(*odd))
    assert b"X-Halogen-From: \xff\x01 ../x \r\nX-Halogen-From: \r\nX: \xc3\xa9\r\n" in got[0]
    with pytest.raises(ValueError, match="CR or LF"):
        wire_bytes("GET", "/", [("X", b"a\r\nY: b")], b"")


def test_a_path_prefix_and_the_url_forms() -> None:
    assert Origin.parse("localhost:1/v/").url == "http://localhost:1/v"
    assert Origin.parse("https://[::1]").netloc == "[::1]:443"
    for bad in ("ftp://x", "http://", "http://u:p@x", "http://x/?q", "http://x:99999"):
        with pytest.raises(ValueError, match=r"http|port"):
            Origin.parse(bad)
