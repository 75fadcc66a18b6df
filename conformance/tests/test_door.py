"""A server that wants another key: said once, before a hundred tests say it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from halogen_conformance.door import lets_in


@contextmanager
def guarded(*routes: str, key: str = "k-right") -> Iterator[str]:
    """A server that wants the key on these routes and answers everything else with 400."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            let_in = self.headers.get("authorization") == f"Bearer {key}"
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(401 if self.path in routes and not let_in else 400)
            self.send_header("content-length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


LIST, CHAT = "/halogen/handles", "/v1/chat/completions"


def test_who_is_let_in() -> None:
    with guarded(LIST, CHAT) as url:
        assert not lets_in(url, None)
        assert not lets_in(url, "k-wrong")
        assert lets_in(url, "k-right")


@pytest.mark.parametrize("route", [LIST, CHAT])
def test_one_route_alone_is_for_the_tests_to_judge(route: str) -> None:
    with guarded(route) as url:
        assert lets_in(url, None)


@pytest.mark.parametrize(
    ("key", "complaint"), [("", "wants a key"), ("k-wrong", "does not take the key")]
)
def test_a_check_says_it_once(cli: Any, key: str, complaint: str) -> None:
    with guarded(LIST, CHAT) as url:
        done = cli("check", "--report", "out", url, HALOGEN_API_KEY=key)
    assert done.returncode == 3, done.stdout
    line = f"LOST     {url} {complaint}"
    assert [found for found in done.stdout.splitlines() if found.startswith(line)]
    assert "HALOGEN_API_KEY, or with --key" in done.stdout and "BLOCKED" not in done.stdout
    assert cli.results()["exit_code"] == 3
