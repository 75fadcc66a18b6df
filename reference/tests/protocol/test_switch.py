"""SWITCH: without HALOGEN_FORK=1 the headers mean nothing, and without headers nothing changes."""

import pytest

from tests.protocol.client import Talk, check_same
from tests.protocol.conftest import StartServer
from tests.protocol.histories import asking
from tests.protocol.routes import ROUTES


@pytest.mark.parametrize(
    "setting", [{"HALOGEN_FORK": ""}, {"HALOGEN_FORK": "0"}], ids=["unset", "0"]
)
def test_switch_1_and_3_off(start_server: StartServer, setting: dict[str, str]) -> None:
    server = start_server(**setting)
    for route in ROUTES.values():
        for stream in (False, True):
            talk = Talk(server, route, stream=stream)
            history = asking("What is a buoy?")
            plain = talk.ask(history)
            marked = talk.ask(history, keep="a", start="b")
            check_same(marked, plain)
            assert marked.outcome is None and marked.keep is None
            # Nothing was kept, either: the continuation is read from its first word.
            on = (*history, ("assistant", plain.text), ("user", "And a beacon?"))
            answer = talk.ask(on, start="a")
            assert answer.outcome is None and answer.good.cached == 0
    assert server.http.get("/halogen/handles").status_code == 404


def test_switch_2_on_without_headers(talk: Talk) -> None:
    before = talk.server.handles()
    answer = talk.ask(asking("What is a buoy?"))
    assert answer.text
    assert not [header for header in answer.headers if header.startswith("x-halogen")]
    assert talk.server.handles() == before
