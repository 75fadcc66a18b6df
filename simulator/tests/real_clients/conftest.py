"""Programs to run: installed once, in a folder that is removed at the end."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_clients.programs import end_those_of, install


@pytest.fixture(scope="session")
def programs() -> Iterator[dict[str, Path]]:
    """Paths of the vendors' programs by name."""
    with tempfile.TemporaryDirectory(prefix="real-clients-") as folder:
        try:
            yield install(Path(folder))
        finally:
            end_those_of(Path(folder))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder that nobody has used."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder
