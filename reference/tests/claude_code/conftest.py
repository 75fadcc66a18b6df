"""A server that maps Claude Code's threads, for each engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.protocol.server import ENGINES, Server, running

MAPPING = {
    "HALOGEN_FORK": "1",
    "HALOGEN_FORK_MAP": "claude-code",
    "HALOGEN_CTX": "4096",
    "HALOGEN_KV_POOL_POSITIONS": "16384",
    "HALOGEN_FORK_HANDLES": "64",
}


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """The server that is tested."""
    return str(request.param)


@pytest.fixture(scope="module")
def mapped(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests of a module: each has sessions of its own."""
    with running(engine, tmp_path_factory.mktemp("mapped") / "log", MAPPING) as server:
        yield server


@pytest.fixture
def fresh(engine: str, tmp_path: Path) -> Iterator[Server]:
    """A server for one test."""
    with running(engine, tmp_path / "log", MAPPING) as server:
        yield server
