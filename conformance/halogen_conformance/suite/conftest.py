"""Fixtures of the suite: from the target to a client, a driver, and names nobody else uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.connection import Limits
from halogen_conformance.drivers.driver import Options
from halogen_conformance.order import Order
from halogen_conformance.outcomes import NotOffered
from halogen_conformance.plugin import ORDER
from halogen_conformance.recorder import Recorder
from halogen_conformance.repro import USE
from halogen_conformance.suite.claude_code import Thread, arranged_mapping, new_session
from halogen_conformance.suite.kept import unique_word
from halogen_conformance.suite.own_server import OwnServers
from halogen_conformance.target import CommandTarget, Server, Settings, Target, UrlTarget
from halogen_conformance.target.settings import Declared
from halogen_conformance.target.target import Running


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if ORDER not in config.stash:
        raise pytest.UsageError(
            "run the suite as `halogen-conformance check URL`, or as `pytest --pyargs "
            "halogen_conformance.suite --base-url URL` (add `-p halogen_conformance.options` "
            "if that option is unknown)"
        )


class Witness:
    """Takes the target's starts and stops to the record of the test that runs at the time."""

    def __init__(self) -> None:
        self.recorder: Recorder | None = None

    def __call__(self, action: str, settings: Settings) -> None:
        if self.recorder is not None:
            self.recorder.target(action, settings.environment())


@pytest.fixture(scope="session")
def witness() -> Witness:
    return Witness()


@pytest.fixture(scope="session")
def declared(order: Order) -> Declared:
    """What the caller said about the target."""
    return order.declared


@pytest.fixture(scope="session")
def target(order: Order, witness: Witness) -> Iterator[Target]:
    """The target of the run; whatever it started is ended with it."""
    made: Target = (
        UrlTarget(order.url, order.declared)
        if order.url
        else CommandTarget(order.command, order.declared, note=witness)
    )
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _witnessed(witness: Witness, recorder: Recorder) -> Iterator[None]:
    witness.recorder = recorder
    yield
    witness.recorder = None


@pytest.fixture
def server(request: pytest.FixtureRequest, target: Target, recorder: Recorder) -> Running:
    """The shared server of the group that the test needs; N/A if the target has none."""
    mark = request.node.get_closest_marker("needs")
    group: str = mark.args[0] if mark else "on"
    offer = target.offers(group)
    if not offer:
        raise NotOffered(offer.reason)
    running = target.running(group)
    recorder.watch(running)
    if isinstance(running, Server):
        recorder.target(USE, running.settings.environment())
    return running


@pytest.fixture
def client(server: Running, declared: Declared, recorder: Recorder) -> Client:
    """A client of that server; every exchange is recorded."""
    return Client(
        server.base_url,
        key=server.key,
        limits=Limits().slower(declared.slow_s),
        recorder=recorder,
        model=declared.model,
    )


@pytest.fixture
def route() -> str:
    """The route of the test; `@x3` sets it. Chat Completions where the route does not matter."""
    return CHAT.route


@pytest.fixture
def streaming() -> bool:
    """Whether the test's answers are streams; `@x3` sets it."""
    return False


@pytest.fixture
def driver(route: str) -> Driver:
    """The driver of the test's route."""
    return DRIVERS[route]


@pytest.fixture
def options(streaming: bool) -> Options:
    """Options for a short reply that streams as the test's parameters say."""
    return Options(max_tokens=5, stream=streaming)


@pytest.fixture
def new_name() -> Callable[[str], str]:
    """Makes names that no other test and no earlier run has used, with a word to read."""
    unique = unique_word()
    return lambda word: f"{word}-{unique}"


@pytest.fixture
def hints() -> bool:
    """Whether Claude Code sends the class of its requests; `@hinted` sets it."""
    return False


@pytest.fixture
def main(client: Client, hints: bool) -> Thread:
    """The main conversation of a new session of Claude Code."""
    return Thread(client, new_session(), hints=hints)


@pytest.fixture
def mapping(client: Client) -> None:
    """Blocks the test unless this server maps the plainest thread."""
    arranged_mapping(client)


@pytest.fixture
def own(target: Target, declared: Declared, recorder: Recorder) -> OwnServers:
    """Starts servers that belong to the test alone."""
    return OwnServers(target, declared, recorder)
