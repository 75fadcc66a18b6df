"""A simulator whose replies are written down beforehand: what no model does when it is asked to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.protocol.routes import Json
from tests.protocol.server import Server, running


@contextmanager
def scripted(folder: Path, lines: list[Json], **settings: str) -> Iterator[Server]:
    """A simulator that follows these lines where one matches, and speaks for itself elsewhere."""
    script = folder / "script.json"
    script.write_text(json.dumps(lines))
    chosen = {"HALOGEN_FORK": "1", **settings}
    with running("simulator", folder / "log", chosen, "--script", str(script)) as server:
        yield server
