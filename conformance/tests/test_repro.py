"""The curl scripts: run for real, they send what was recorded, byte for byte where it matters."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halogen_conformance.events import ExchangeSeen, TargetChanged
from halogen_conformance.repro import USE, Step, quote, script, together

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


class Listener(ThreadingHTTPServer):
    """Remembers every request: method, path, headers, body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Ear)
        self.heard: list[tuple[str, str, list[tuple[str, str]], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Ear(BaseHTTPRequestHandler):
    server: Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        self.server.heard.append((self.command, self.path, list(self.headers.items()), body))
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"hello")

    do_GET = do_POST = do_HEAD = answer


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def seen(number: int = 1, at: float = 1.0, seconds: float = 0.5, **values: Any) -> ExchangeSeen:
    given: dict[str, Any] = {"method": "GET", "path": "/halogen/handles"} | values
    return ExchangeSeen(test="t", number=number, at=at, seconds=seconds, **given)


def play(text: str, url: str, key: str = "the-key", enter: str = "") -> str:
    done = subprocess.run(
        ["sh", "-c", text, "repro.sh", url],
        env={"HALOGEN_API_KEY": key, "PATH": "/usr/local/bin:/usr/bin:/bin"},
        input=enter.encode(),
        capture_output=True,
        timeout=30,
        check=False,
    )
    return (done.stdout + done.stderr).decode("utf-8", "replace")


@needs_curl
def test_requests_are_repeated_with_headers_and_body(listener: Listener) -> None:
    body = json.dumps(
        {"text": 'it\'s $HOME `id` \\ "x" BODY\nBODY', "e": "é😀\u200d"}, ensure_ascii=False
    )
    headers = (
        ("Host", "wrong"),
        ("Content-Length", "1"),
        ("Authorization", "Bearer [hidden]"),
        ("X-Api-Key", "[hidden]"),
        ("X-Halogen-Keep", 'it\'s $(id) "a" \\b %s'),
        ("X-Halogen-From", "caf\xe9\xff\t."),
        ("X-Empty", ""),
    )
    one = seen(
        method="POST", path="/v1/messages?a=1&b='", request_headers=headers, request_body=body
    )

    text = script("title\nrm -rf x", [one])
    said = play(text, listener.url)

    assert "hello" in said
    ((method, path, got, sent),) = listener.heard
    assert (method, path) == ("POST", "/v1/messages?a=1&b='")
    values = {name.lower(): value for name, value in got}
    assert values["authorization"] == "Bearer the-key"
    assert values["x-api-key"] == "the-key"
    assert values["x-halogen-keep"] == 'it\'s $(id) "a" \\b %s'
    assert values["x-halogen-from"] == "caf\xe9\xff\t."
    assert values["x-empty"] == ""
    assert values["host"] == listener.url.removeprefix("http://")
    assert json.loads(sent) == json.loads(body)
    assert text.isascii()
    assert "the-key" not in text
    assert all(line.startswith("#") for line in text.splitlines() if "rm -rf" in line)


@needs_curl
def test_a_head_request_ends(listener: Listener) -> None:
    assert "200" in play(script("t", [seen(method="HEAD")]), listener.url)
    assert listener.heard[0][0] == "HEAD"


@needs_curl
def test_double_keys_in_a_body_survive(listener: Listener) -> None:
    body = '{"a": 1,  "a": "\xe9"}'
    play(script("t", [seen(method="POST", request_body=body)]), listener.url)
    assert listener.heard[0][3].strip() == b'{"a": 1,  "a": "\\u00e9"}'


@needs_curl
def test_a_body_that_is_no_json_is_sent_as_it_is(listener: Listener) -> None:
    play(script("t", [seen(method="POST", request_body='{"a": \xe9')]), listener.url)
    assert listener.heard[0][3].strip() == '{"a": \xe9'.encode()


@needs_curl
def test_a_body_cannot_end_itself_and_go_on_as_commands(listener: Listener) -> None:
    body = "{\nBODY\necho taken-over\nBODY_\n"
    said = play(script("t", [seen(method="POST", request_body=body)]), listener.url)
    assert "taken-over" not in said
    assert listener.heard[0][3].strip() == body.strip().encode()


@needs_curl
def test_calls_that_overlapped_overlap_again_and_a_restart_waits_for_the_reader(
    listener: Listener,
) -> None:
    steps: list[Step] = [
        TargetChanged("t", 0.0, USE, (("HALOGEN_FORK", "1"),)),
        seen(1, 1.0, 0.5, method="POST", path="/1", request_body="{}"),
        seen(2, 1.1, 0.5, method="POST", path="/2", request_body="{}", left_after=3),
        TargetChanged("t", 2.0, "restart", (("HALOGEN_CACHE_DIR", "a b"),)),
        seen(3, 3.0, path="/3"),
    ]
    text = script("t", steps)
    assert "# The server ran with: HALOGEN_FORK=1" in text
    assert text.count(" &\n") == 2
    said = play(text, listener.url, enter="\n")
    assert "Now restart the server with: HALOGEN_CACHE_DIR='a b', then press Enter." in said
    assert sorted(path for _, path, _, _ in listener.heard) == ["/1", "/2", "/3"]
    assert listener.heard[-1][1] == "/3"


def test_nothing_to_repeat_makes_no_script() -> None:
    assert script("t", [TargetChanged("t", 0.0, USE)]) == ""


def test_batches() -> None:
    one, two, three = seen(1, 1.0, 1.0), seen(2, 1.5, 0.1), seen(3, 1.9, 1.0)
    assert together([three, one, two]) == [[one, two, three]]
    assert together([seen(1, 1.0, 1.0), seen(2, 2.0, 1.0)]) == [
        [seen(1, 1.0, 1.0)],
        [seen(2, 2.0, 1.0)],
    ]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.text(st.characters(max_codepoint=255, exclude_characters="\0\n\r"), min_size=1),
        min_size=1,
        max_size=8,
    )
)
def test_any_header_value_is_one_shell_word(values: list[str]) -> None:
    words = " ".join(quote(value) for value in values)
    done = subprocess.run(
        ["sh", "-c", f"printf '%s\\0' {words}"], capture_output=True, timeout=10, check=True
    )
    assert done.stdout.split(b"\0")[:-1] == [value.encode("latin-1") for value in values]
