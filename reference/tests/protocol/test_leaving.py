"""Clients that leave (KEEP-5, P18): nothing is kept of their replies, nobody else notices."""

import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.protocol.client import Talk, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import COUNTING, ONE_TWO, asking
from tests.protocol.rawhttp import hang_up, request
from tests.protocol.routes import Route
from tests.protocol.waiting import eventually

WAYS: dict[str, dict[str, Any]] = {
    "at once": {},
    "before the reply": {"stream": False},
    "after an event": {"after": b"data: ", "times": 1},
    "after three events": {"after": b"data: ", "times": 3},
}


@pytest.mark.parametrize("way", WAYS)
def test_keep_5_a_client_that_leaves(start_server: StartServer, route: Route, way: str) -> None:
    how = dict(WAYS[way])
    stream = bool(how.pop("stream", True))
    server = start_server()
    talk = Talk(server, route, stream=True)
    kept = talk.kept("plan", asking("What is fog?"))
    before = server.handles()
    cells = server.gauge("halogen_kv_cells_used")
    neighbour: dict[str, Any] = {"history": COUNTING, "partial": ONE_TWO, "max_tokens": 40}
    twin = talk.twin(**neighbour)

    body = route.body(COUNTING, partial=ONE_TWO, stream=stream, max_tokens=1500)
    fork = route.body(kept.then("Tell me all."), partial=None, stream=stream, max_tokens=1500)
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(lambda: talk.ask(**neighbour))
        for _ in range(2):
            for start, asked in ((b"plan", fork), (b"nothing", body)):
                names = [(b"x-halogen-keep", b"plan"), (b"x-halogen-from", start)]
                hang_up(server, route, asked, names, **how)
            hang_up(server, route, body, [(b"x-halogen-keep", b"never")], **how)
        assert beside.result().text == twin.text
    # Generation stops long before the 1,500 tokens that were asked for.
    server.idle()
    eventually(lambda: server.gauge("halogen_kv_cells_used") == cells, "the cells to come back")
    after = server.handles()
    assert set(after) == {"plan"}
    assert after["plan"]["created_at"] == before["plan"]["created_at"]
    assert after["plan"]["tokens"] == before["plan"]["tokens"]
    check_used(talk, kept, kept.then("Why?"))


def test_a_body_that_never_ends(whole: Talk, name: Callable[[str], str]) -> None:
    """Half a request and then nothing: no reply is begun for it, nothing is kept."""
    body = json.dumps(whole.route.body(asking("What is fog?"), partial=None, stream=False)).encode()
    sent = request(whole.route.path, body, [(b"x-halogen-keep", name("half").encode())])
    before = whole.server.handles()

    for upto in (10, len(sent) - len(body), len(sent) - 1):
        with socket.create_connection(("127.0.0.1", whole.server.port)) as connection:
            connection.sendall(sent[:upto])
    assert whole.ask(asking("What is fog?")).text
    assert whole.server.handles() == before
