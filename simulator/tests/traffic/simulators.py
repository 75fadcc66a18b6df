"""Simulators that map Claude Code's threads, each on a free port of this machine."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import uvicorn
from starlette.types import ASGIApp

from halogen_reference.settings import read
from halogen_simulator.assembly import assemble
from halogen_simulator.engine import Character
from halogen_simulator.faults.table import FAULTS
from halogen_simulator.script import parse
from halogen_simulator.traffic.generator import Plan, traffic
from halogen_simulator.traffic.judge import Played, complaint
from halogen_simulator.traffic.recording import Recorded
from halogen_simulator.traffic.replay import Manner, Player

MAPPING = {
    "HALOGEN_FORK": "1",
    "HALOGEN_FORK_MAP": "claude-code",
    "HALOGEN_FORK_HANDLES": "64",
    "HALOGEN_CTX": "32768",
}


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    """Serve an application for as long as the block runs; its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server does not end"


@contextmanager
def simulator(
    fault: str | None = None, script: Sequence[object] = (), **settings: str
) -> Iterator[httpx.Client]:
    """A client of a simulator with the given fault and settings (on top of MAPPING)."""
    built = assemble(
        read({**MAPPING, **settings}),
        Character(script=parse(list(script))),
        fault=FAULTS[fault] if fault else None,
        test_controls=True,
    )
    with (
        listening(built.app) as url,
        httpx.Client(
            base_url=url, timeout=60, trust_env=False, limits=httpx.Limits(max_connections=None)
        ) as http,
    ):
        yield http


def made(plan: Plan) -> list[Recorded]:
    """Generated requests."""
    return [planned.record for planned in traffic(plan)]


def play(
    records: Sequence[Recorded], http: httpx.Client, manner: Manner | None = None
) -> tuple[list[Played], list[str]]:
    """The answers, and what is wrong with them."""
    manner = manner or Manner(max_tokens=64)
    run = list(Player(records, http, manner).run())
    by_number = {played.placed.record.n: played for played in run}
    found = [complaint(one, by_number.get(one.placed.base or 0)) for one in run]
    return run, [problem for problem in found if problem]
