"""Answers that end badly are told as what they are, and none keeps the run from its own end."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.launched import load

FIRST = b'data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "A"}}]}\n\n'


class Handler(BaseHTTPRequestHandler):
    """Lists no names, and answers each POST in the next of its ways."""

    protocol_version = "HTTP/1.1"
    over: threading.Event
    ways: Iterator[Callable[[Handler], None]]

    def do_GET(self) -> None:
        body = b'{"object": "list", "data": [], "max_handles": 8, "ttl_s": 600}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True
        next(self.ways)(self)

    def begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        pass


def cut(handler: Handler) -> None:
    handler.begin()
    handler.chunk(FIRST)


def hang_up(handler: Handler) -> None:
    pass


def garble(handler: Handler) -> None:
    handler.wfile.write(b"this is no HTTP\r\n\r\n")


def fall_silent(handler: Handler) -> None:
    handler.begin()
    handler.chunk(FIRST)
    handler.over.wait(30)


def never_begin(handler: Handler) -> None:
    handler.over.wait(30)


def never_end(handler: Handler) -> None:
    handler.begin()
    try:
        while not handler.over.wait(0.1):
            handler.chunk(b": still here\n\n")
    except OSError:
        pass  # the load test has hung up


WAYS = {
    cut: "died",
    hang_up: "died",
    garble: "died",
    fall_silent: "idle",
    never_begin: "idle",
    never_end: "overdue",
}


@pytest.fixture
def url() -> Iterator[str]:
    handler = type("Own", (Handler,), {"over": threading.Event(), "ways": itertools.cycle(WAYS)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        handler.over.set()  # type: ignore[attr-defined]
        server.shutdown()
        thread.join(20)
        server.server_close()


def test_every_bad_end_is_told(url: str, tmp_path: Path) -> None:
    words = ("--scenario=conversation", "--route=chat", f"--users={len(WAYS)}", "--iterations=1")
    done = load(tmp_path, url, *words, "--idle-limit=1", "--reply-limit=2.5", "--stop-time=5")
    assert done.code == 1, done.text
    counts = done.results["counts"]
    assert counts["begun"] == counts["judged"] == len(WAYS)
    told = [one["actual"] for one in done.results["violations"] if one["invariant"] == "answered"]
    assert done.results["invariants"]["answered"]["broken"] == len(WAYS)
    for ending, count in Counter(WAYS.values()).items():
        assert sum(f"; {ending}" in text for text in told) == count, (ending, told)
