"""Servers to talk to, and what a failed test shows of them.

Every test runs over each of ENGINES and each of ROUTES; most run streaming and not.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from tests.protocol.client import Talk
from tests.protocol.routes import ROUTES, Route
from tests.protocol.server import ENGINES, Server, running

StartServer = Callable[..., Server]
_SERVERS = pytest.StashKey[list[Server]]()


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """The server that is tested."""
    return str(request.param)


@pytest.fixture(scope="session")
def shared_server(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for every test that needs no settings of its own."""
    log = tmp_path_factory.mktemp("server") / "log"
    chosen = {
        "HALOGEN_FORK": "1",
        "HALOGEN_FORK_HANDLES": "16",
        # Room for as many names with tools: a name must go for the tests' own reasons only.
        "HALOGEN_KV_POOL_POSITIONS": "12288",
    }
    with running(engine, log, chosen) as server:
        yield server


@pytest.fixture
def server(shared_server: Server, request: pytest.FixtureRequest) -> Server:
    request.node.stash.setdefault(_SERVERS, []).append(shared_server)
    return shared_server


@pytest.fixture
def start_server(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[StartServer]:
    """Start a server with settings of the test's own: ``start_server(HALOGEN_FORK_TTL_S="1")``.

    The protocol is switched on unless the settings say otherwise.
    """
    with ExitStack() as stack:
        numbers = count()

        def start(**chosen: str) -> Server:
            log = tmp_path / f"server-{next(numbers)}.log"
            server = stack.enter_context(running(engine, log, {"HALOGEN_FORK": "1", **chosen}))
            request.node.stash.setdefault(_SERVERS, []).append(server)
            return server

        yield start


@pytest.fixture(params=sorted(ROUTES))
def route(request: pytest.FixtureRequest) -> Route:
    return ROUTES[request.param]


@pytest.fixture(params=["whole", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "stream")


@pytest.fixture
def talk(server: Server, route: Route, stream: bool) -> Talk:
    """A client of the shared server, by each route, streaming and not."""
    return Talk(server, route, stream=stream)


@pytest.fixture
def whole(server: Server, route: Route) -> Talk:
    """The same, not streaming: for what streaming has no part in."""
    return Talk(server, route, stream=False)


_numbers = count()


@pytest.fixture
def name() -> Callable[[str], str]:
    """Names no other test uses: ``name("plan")``."""
    number = next(_numbers)
    return lambda word: f"{word}-{number}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        for server in item.stash.get(_SERVERS, []):
            report.sections.append((f"log of {server.url}", server.log()[-4000:] or "(empty)"))
    return report
