"""P18: a client leaves in mid-stream, again and again, while others are served."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.protocol.client import Talk, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import COUNTING, ONE_TWO, asking
from tests.protocol.rawhttp import Stream, hang_up
from tests.protocol.routes import Route

TIMES = 20
HEADERS = ((b"x-halogen-from", b"plan"), (b"x-halogen-keep", b"plan"))


def test_p18_twenty_clients_that_leave(start_server: StartServer, route: Route) -> None:
    """Half of them while another stream runs; before the first event and after three."""
    server = start_server()
    talk = Talk(server, route, stream=True)
    kept = talk.kept("plan", asking("What is fog?"))
    before = server.handles()["plan"]
    long = route.body(kept.then("1, 2, 3,"), partial=None, stream=True, max_tokens=1500)
    other = route.body(COUNTING, partial=ONE_TWO, stream=True, max_tokens=60)
    twin = talk.twin(COUNTING, partial=ONE_TWO, max_tokens=60)

    def leave(number: int) -> None:
        if number % 4 < 2:
            hang_up(server, route, long, HEADERS)
        else:
            hang_up(server, route, long, HEADERS, after=b"data: ", times=3)

    def beside(act: Callable[[], object]) -> None:
        with Stream(server, route, other) as running, ThreadPoolExecutor(1) as pool:
            running.event()
            left = pool.submit(act)
            assert running.rest().text == twin.text
            left.result()

    for number in range(TIMES):
        if number % 2:
            beside(lambda: leave(number))  # noqa: B023
        else:
            leave(number)
    # The next request is answered, and the state is the one from before.
    check_used(talk, kept, kept.then("Why?"))
    server.idle()
    after = server.handles()
    assert set(after) == {"plan"}
    assert after["plan"]["tokens"] == before["tokens"]
    assert after["plan"]["created_at"] == before["created_at"]
