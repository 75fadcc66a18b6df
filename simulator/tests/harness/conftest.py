"""One simulator for all tests that need nothing special of theirs."""

from collections.abc import Iterator

import pytest

from tests.harness.server import Served, served


@pytest.fixture(scope="package")
def server() -> Iterator[Served]:
    with served(settings={"HALOGEN_FORK_HANDLES": "64"}) as running:
        yield running
