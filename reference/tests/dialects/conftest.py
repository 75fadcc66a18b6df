"""Fixtures of the dialect tests."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.dialects.loopback import Loopback, serve

# How long an example takes says more about a shared machine than about the code.
settings.register_profile("dialects", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dialects")


@pytest.fixture(scope="session")
def loopback_server() -> Iterator[Loopback]:
    with serve() as server:
        yield server


@pytest.fixture
def loopback(loopback_server: Loopback) -> Loopback:
    """A server without a script: nothing of another test is left in it."""
    loopback_server.script()
    loopback_server.seen = None
    return loopback_server
