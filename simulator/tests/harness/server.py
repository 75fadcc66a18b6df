"""A simulator on a real socket in this process: started in a moment, with any fault and script."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from halogen_reference.settings import read
from halogen_simulator.assembly import Simulator, assemble
from halogen_simulator.engine import Character
from halogen_simulator.faults.table import FAULTS

ON = {"HALOGEN_FORK": "1", "HALOGEN_CTX": "8192"}


@dataclass(frozen=True)
class Served:
    url: str
    simulator: Simulator


class _Server(uvicorn.Server):
    """Tells when it takes connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.takes_connections = threading.Event()

    async def startup(self, sockets: object = None) -> None:
        await super().startup()
        self.takes_connections.set()


@contextmanager
def served(
    fault: str | None = None,
    character: Character | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Served]:
    """For as long as the block runs. Sessions are on unless the settings say otherwise."""
    chosen = read({**ON, **(settings or {})})
    simulator = assemble(chosen, character, fault=FAULTS[fault] if fault else None)
    server = _Server(
        uvicorn.Config(simulator.app, port=0, ws="none", log_level="error", loop="asyncio")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.takes_connections.wait(20)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(f"http://127.0.0.1:{port}", simulator)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
