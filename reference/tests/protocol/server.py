"""A server process under test: started on a free loopback port, seen from outside, ended by pid."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.protocol.waiting import eventually

ENGINES: dict[str, list[str]] = {
    "reference": [sys.executable, "-m", "halogen_reference", "--port", "0"],
    # Replies that take a little time: some tests hang up in the middle of one.
    "simulator": [
        *(sys.executable, "-m", "halogen_simulator", "serve"),
        *("--port", "0", "--token-s", "0.002"),
    ],
}
"""The servers this folder runs over, by name; each prints ``... on http://host:port`` when up."""

EXACT = ("simulator",)
"""Engines without rounding errors: what must be equal is equal, near ties are no excuse."""

LIGHT = {"HALOGEN_CTX": "2048", "HALOGEN_THREADS": "1"}
"""Small and, on a machine that is shared, steady: several computing threads wait for each other."""

_T = TypeVar("_T")
_READY = re.compile(r" on (http://127\.0\.0\.1:\d+)$", re.MULTILINE)


class Server:
    """One running server."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", log: Path, *, exact: bool = False
    ) -> None:
        self.process, self.exact = process, exact
        self._log = log
        self._answers: dict[str, Any] = {}
        self.url: str = eventually(self._address, "the line that gives the address")
        self.http = httpx.Client(
            base_url=self.url,
            timeout=60,
            trust_env=False,
            limits=httpx.Limits(max_connections=None),
        )

    def _address(self) -> str | None:
        ended = self.process.poll()
        assert ended is None, f"the server ended with {ended} at its start:\n{self.log()}"
        found = _READY.search(self.log())
        return found[1] if found else None

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def once(self, key: str, ask: Callable[[], _T]) -> _T:
        """What ``ask`` returned when this server was first asked under this key."""
        if key not in self._answers:
            self._answers[key] = ask()
        answer: _T = self._answers[key]
        return answer

    def log(self) -> str:
        """What it has printed so far."""
        return self._log.read_text("utf-8", "replace")

    def handles(self) -> dict[str, dict[str, Any]]:
        """The live names by name, least recently used first (LIST-1)."""
        answer = self.http.get("/halogen/handles")
        assert answer.status_code == 200, answer.text
        return {entry["name"]: entry for entry in answer.json()["data"]}

    def gauge(self, name: str) -> float:
        """A figure from ``/metrics``."""
        page = self.http.get("/metrics").text
        found = re.search(rf"^{name} (\S+)$", page, re.MULTILINE)
        assert found, f"no {name} in:\n{page}"
        return float(found[1])

    def idle(self) -> None:
        """Wait until nothing is generated and nothing waits."""
        eventually(
            lambda: (
                not self.gauge("halogen_requests_running")
                and not self.gauge("halogen_requests_waiting")
            ),
            "the server to become idle",
        )


def clean_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with no other settings of the server than these."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HALOGEN_")}
    return {**own, **settings}


@contextmanager
def running(engine: str, log: Path, settings: Mapping[str, str], *options: str) -> Iterator[Server]:
    """A server with these settings (on top of LIGHT) for as long as the block runs.

    ``options`` are added to its command line.

    Raises AssertionError when it has died meanwhile, or has logged an exception of its own.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*ENGINES[engine], *options],
            env=clean_environment({**LIGHT, **settings}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        server = Server(process, log, exact=engine in EXACT)
        with server.http:
            yield server
        assert process.poll() is None, f"the server died ({process.poll()}):\n{server.log()}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert "Traceback" not in server.log(), f"the server logged an exception:\n{server.log()}"
