"""What a person reads when the server of `fit` or `check` is not there, or not theirs."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from halogen_simulator.fleet.command import main

Answer = tuple[int, str]
Serve = Callable[[Callable[[str, str | None], Answer]], str]

COMMANDS = {
    "fit": ["fit", "--out", "never.json"],
    "check": ["check", "--programs", "1", "--turns", "1", "--fan-out", "0"],
}
PAGE = "<html>\n<head><title>502\x1b[31m</title></head>\r\n" + "<p>Bad Gateway</p>\n" * 400
HANDLES = json.dumps({"data": [], "max_handles": 8, "ttl_s": 600})


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server that answers what a function of path and Authorization says; its URL."""
    running: list[ThreadingHTTPServer] = []

    def start(answers: Callable[[str, str | None], Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, body = answers(self.path, self.headers.get("Authorization"))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        running.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert said.startswith("halogen-simulator fleet: ") and said.count("\n") == 1, said
    assert said[:-1].isprintable() and len(said) < 300, said
    return said


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALOGEN_API_KEY", raising=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_server(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # and nobody listens there afterwards
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    assert main([*COMMANDS[command], "--base-url", url]) == 3
    said = one_line(capsys)
    assert f"no server at {url}" in said and "start the server" in said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("option", "variable", "code", "said"),
    [
        (None, None, 3, "the server wants a key (401)"),
        ("wrong", None, 3, "does not take this key (401)"),
        (None, "wrong", 3, "does not take this key (401)"),
        ("right", "wrong", 2, "the server answered 503: loading"),
        (None, "right", 2, "the server answered 503: loading"),
    ],
)
def test_the_key(
    serve: Serve,
    command: str,
    option: str | None,
    variable: str | None,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def answers(path: str, authorization: str | None) -> Answer:
        taken = authorization == "Bearer right"
        return (503, '{"error": {"message": "loading"}}') if taken else (401, PAGE)

    if variable:
        monkeypatch.setenv("HALOGEN_API_KEY", variable)
    given = ["--key", option] if option else []
    assert main([*COMMANDS[command], "--base-url", serve(answers), *given]) == code
    assert said in one_line(capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_is_cut_to_a_line(
    serve: Serve, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = serve(lambda path, authorization: (502, PAGE))
    assert main([*COMMANDS[command], "--base-url", url]) == 2
    assert "the server answered 502: <html> <head><title>502" in one_line(capsys)


def test_another_web_server(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    url = serve(lambda path, authorization: (200, PAGE))
    assert main([*COMMANDS["check"], "--base-url", url]) == 2
    assert "gives no list of names: <html>" in one_line(capsys)


@pytest.mark.parametrize(("status", "code"), [(500, 2), (401, 3)])
def test_a_check_that_fails_on_the_way(
    serve: Serve, status: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Requests are sent together: what one of them meets comes out as one line all the same."""
    url = serve(lambda path, key: (200, HANDLES) if "/v1/" not in path else (status, PAGE))
    assert main([*COMMANDS["check"], "--base-url", url]) == code
    assert str(status) in one_line(capsys)
