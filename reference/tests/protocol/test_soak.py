"""Many clients at once, for a while: nothing breaks, is mixed up, or is left behind."""

import threading

import httpx
import psutil
import pytest

from tests.protocol.conftest import StartServer
from tests.protocol.routes import Route
from tests.protocol.server import EXACT, Server
from tests.protocol.storm import Storm, rage
from tests.protocol.waiting import eventually

CLIENTS = 50
GROWTH = 48 * 2**20
"""Bytes of memory that a server in full use may gain between a third of the storm and its end:
allocators round up, leaks do not stop. One leaked state a second would be more."""


class Memory(threading.Thread):
    """Reads a process's memory now and then, until told to stop."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(server.process.pid)
        self._stop_reading = threading.Event()
        self.readings: list[int] = []

    def run(self) -> None:
        while not self._stop_reading.wait(0.1):
            self.readings.append(self._process.memory_info().rss)

    def stop(self) -> None:
        self._stop_reading.set()
        self.join()


async def weather(
    start_server: StartServer, route: Route, seconds: float, wanted: dict[str, int]
) -> None:
    """A storm of that length, and everything that must hold after one."""
    server = start_server(
        HALOGEN_CTX="512",
        HALOGEN_KV_SLOTS="8",
        HALOGEN_KV_POOL_POSITIONS="4096",
        HALOGEN_QUEUE_TIMEOUT="20",
        HALOGEN_FORK_HANDLES="40",
        HALOGEN_FORK_TTL_S="10",
    )
    memory = Memory(server)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=server.url, timeout=120, limits=limits, trust_env=False
    ) as http:
        storm = Storm(server, route, http, wanted=wanted)
        memory.start()
        try:
            await rage(storm, CLIENTS, seconds)
        finally:
            memory.stop()
    assert not storm.wrong, "\n".join(storm.wrong[:20])
    assert all(storm.seen[what] >= times for what, times in wanted.items()), storm.seen

    # No sequence is leaked: what is in use is what the list shows, shared parts once.
    server.idle()
    handles = server.handles()
    used = server.gauge("halogen_kv_cells_used")
    assert used <= sum(entry["tokens"] for entry in handles.values())
    assert used >= max((entry["tokens"] for entry in handles.values()), default=1) - 1
    eventually(lambda: not server.handles(), "every name's time to be over")
    eventually(lambda: server.gauge("halogen_kv_cells_used") == 0, "the cells to be free")

    third = len(memory.readings) // 3
    assert third, "the memory was never read"
    warm, last = max(memory.readings[third : 2 * third]), max(memory.readings[2 * third :])
    assert last - warm < GROWTH, f"memory grew from {warm} to {last} bytes"


# A storm in which one of these did not happen would show nothing about it.
EVERYTHING = ("200 used", "200 unmatched", "200 unknown", "200 left", "400 nonsense")


@pytest.mark.timeout(300)
async def test_a_short_storm(engine: str, start_server: StartServer, route: Route) -> None:
    seconds = 4 if engine in EXACT else 12
    await weather(start_server, route, seconds=seconds, wanted=dict.fromkeys(EVERYTHING, 3))


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_a_long_storm(start_server: StartServer, route: Route) -> None:
    await weather(start_server, route, seconds=120, wanted=dict.fromkeys(EVERYTHING, 20))
