"""Servers that come back: started again on the same cache folder."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from tests.protocol.server import ENGINES
from tests.restart.comeback import Comeback


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """The server that is tested."""
    return str(request.param)


class MakeComeback(Protocol):
    def __call__(self, **settings: str) -> Comeback: ...


@pytest.fixture
def comeback(engine: str, tmp_path: Path) -> Iterator[MakeComeback]:
    """Make a server that can be started, stopped and killed; ended with the test."""
    with ExitStack() as stack:

        def make(**settings: str) -> Comeback:
            server = Comeback(engine, tmp_path, {"HALOGEN_CACHE_DIR": str(tmp_path), **settings})
            stack.callback(server.end)
            return server

        yield make
