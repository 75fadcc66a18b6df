"""The servers and clients of the protocol's own tests."""

from tests.claude_code.conftest import fresh, mapped
from tests.protocol.conftest import (
    engine,
    name,
    pytest_runtest_makereport,
    route,
    server,
    shared_server,
    start_server,
    stream,
    talk,
    whole,
)

__all__ = [
    "engine",
    "fresh",
    "mapped",
    "name",
    "pytest_runtest_makereport",
    "route",
    "server",
    "shared_server",
    "start_server",
    "stream",
    "talk",
    "whole",
]
