"""LIFE: how long names live and how many."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.protocol.client import Kept, Talk, check_not_used, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import COUNTING, ONE_TWO, asking
from tests.protocol.rawhttp import Stream
from tests.protocol.routes import Route
from tests.protocol.waiting import eventually


def test_life_1_an_unused_name_is_released(start_server: StartServer, route: Route) -> None:
    server = start_server(HALOGEN_FORK_TTL_S="2")
    talk = Talk(server, route, stream=False)
    kept = talk.kept("listed", asking("What is fog?"))
    eventually(lambda: not server.handles(), "the name to go from the list")
    check_not_used(talk, "unknown", kept.then("Why?"), "listed")

    # And without anybody looking at the list.
    kept = talk.kept("unlisted", asking("What is fog?"))
    expires_at = server.handles()["unlisted"]["expires_at"]
    eventually(lambda: time.time() > expires_at, "the name's time to be over")
    check_not_used(talk, "unknown", kept.then("Why?"), "unlisted")
    # Its memory comes back, too.
    eventually(lambda: server.gauge("halogen_kv_cells_used") == 0, "the cells to be free")


def test_life_2_use_restarts_the_clock_and_listing_does_not(
    start_server: StartServer, route: Route, stream: bool
) -> None:
    server = start_server(HALOGEN_FORK_TTL_S="500")
    talk = Talk(server, route, stream=stream)

    def last_used() -> float:
        entry = server.handles()["plan"]
        # In use it goes that long after now.
        assert entry["expires_at"] >= entry["last_used_at"] + 500
        return float(entry["last_used_at"])

    kept = talk.kept("plan", asking("What is fog?"))
    first = last_used()
    assert all(last_used() == first for _ in range(5))
    # Neither a start that fails nor a request that does not name it is a use.
    assert talk.ask(asking("What is foam?"), start="plan").outcome == "unmatched"
    talk.ask(kept.then("Why?"))
    assert last_used() == first
    # The clock starts where the use ends: later than the first event of its reply.
    body = route.body(kept.then("Why?"), partial=None, stream=True)
    with Stream(server, route, body, start="plan") as used:
        used.event()
        begun = time.time()
        used.rest()
    second = eventually(lambda: last_used() if last_used() >= begun else 0, "the use's end")
    sent = time.time()
    talk.ask(asking("What is foam?"), keep="plan")
    assert second < sent <= last_used()


def test_life_2_the_clock_stands_still_during_a_use(
    start_server: StartServer, route: Route
) -> None:
    server = start_server(HALOGEN_FORK_TTL_S="2")
    talk = Talk(server, route, stream=True)
    grown = talk.ask(COUNTING, keep="plan", partial=ONE_TWO, max_tokens=1)
    reply = ONE_TWO + grown.text
    assert grown.good.output == 1
    expires_at = server.handles()["plan"]["expires_at"]
    body = route.body(COUNTING, partial=reply, stream=True, max_tokens=1500)
    with Stream(server, route, body, start="plan") as stream:
        assert stream.headers["x-halogen-from"] == "used"
        while time.time() < expires_at + 0.5:
            assert stream.event(), "the reply ended too soon for this test"
        assert "plan" in server.handles()
    # The client has left; the use ends with it and the clock starts there.
    eventually(lambda: server.gauge("halogen_requests_running") == 0, "the reply to be given up")
    eventually(lambda: "plan" not in server.handles(), "the name to go after its use")


def test_life_3_4_and_5_the_cap(start_server: StartServer, route: Route) -> None:
    server = start_server(HALOGEN_FORK_HANDLES="2")
    talk = Talk(server, route, stream=False)
    kept = {name: talk.kept(name, asking(f"What is {name}?")) for name in ("fog", "foam")}
    # Starting from the older one makes the other the least recently used.
    check_used(talk, kept["fog"], kept["fog"].then("Why?"))
    kept["salt"] = talk.kept("salt", asking("What is salt?"))
    assert set(server.handles()) == {"fog", "salt"}
    check_not_used(talk, "unknown", kept["foam"].then("Why?"), "foam")
    # That miss cost nobody a place.
    for name in ("fog", "salt"):
        check_used(talk, kept[name], kept[name].then("Why?"))


def test_life_3_and_4_under_traffic(start_server: StartServer, route: Route) -> None:
    server = start_server(HALOGEN_FORK_HANDLES="2")
    talk = Talk(server, route, stream=False)
    histories = {f"name-{number}": asking(f"What is {number}?") for number in range(6)}
    looks = 0
    # Replies may come faster than the list: it must have been looked at while they did.
    while looks < 3:
        with ThreadPoolExecutor(len(histories)) as pool:
            running = [pool.submit(talk.ask, asked, keep=name) for name, asked in histories.items()]
            while not all(request.done() for request in running):
                assert len(server.handles()) <= 2
                looks += 1
    listed = set(server.handles())
    assert len(listed) == 2
    for (name, history), request in zip(histories.items(), running, strict=True):
        kept = Kept(name, history, request.result())
        wanted = "used" if name in listed else "unknown"
        assert talk.ask(kept.then("Why?"), start=name, max_tokens=2).outcome == wanted


def test_life_6_a_start_whose_name_goes_meanwhile(start_server: StartServer, route: Route) -> None:
    server = start_server(HALOGEN_FORK_HANDLES="1")
    talk = Talk(server, route, stream=False)
    grown = talk.ask(COUNTING, keep="plan", partial=ONE_TWO, max_tokens=1)
    how: dict[str, Any] = {"partial": ONE_TWO + grown.text, "max_tokens": 60}
    twin = talk.twin(COUNTING, **how)
    body = route.body(COUNTING, stream=True, **how)
    with Stream(server, route, body, start="plan") as stream:
        assert stream.headers["x-halogen-from"] == "used"
        stream.event()
        talk.kept("other", asking("What is foam?"), max_tokens=1)
        assert set(server.handles()) == {"other"}
        reply = stream.rest()
    assert (reply.text, reply.finish, reply.prompt) == (twin.text, twin.finish, twin.good.prompt)
    assert talk.ask(COUNTING, start="plan", **how).outcome == "unknown"
