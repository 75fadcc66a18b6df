"""A server as a child process: started, waited for, ended by its pid."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from halogen_reference.engine.llama import waiting

REFERENCE = (sys.executable, "-m", "halogen_reference", "--port", "0")
"""The command that starts this project's server on a free port."""

_ADDRESS = re.compile(r" on (http://\S+)")
_START_S = 120.0
_STOP_S = 15.0
_POLL_S = 0.05
_LOG_LINES = 15
# What a person sets to choose a model and threads is theirs; everything else is the script's.
_FROM_USER = ("HALOGEN_CHECKPOINT", "HALOGEN_THREADS")


class ServerTrouble(Exception):
    """A server did not start or died; the message shows the end of its log."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers."""

    url: str
    pid: int


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment for a server or a measurement: these ``HALOGEN_`` settings and no others."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HALOGEN_") or name in _FROM_USER
    }
    # The server would choose this itself; what it is measured against shall have the same.
    waiting.choose(kept)
    return {**kept, "PYTHONUNBUFFERED": "1", **settings}


@contextmanager
def serve(
    command: Sequence[str],
    settings: Mapping[str, str],
    *,
    url: str | None = None,
    ready: str = "/health",
) -> Iterator[Running]:
    """Run a server for as long as the block does.

    ``url`` is where it will listen; None reads it from the line the server prints. It has started
    when ``ready`` answers 200. Raises ServerTrouble.
    """
    with tempfile.TemporaryDirectory(prefix="halogen-") as folder:
        log = Path(folder, "server.log")
        with log.open("wb") as sink:
            child = subprocess.Popen(
                command, stdout=sink, stderr=subprocess.STDOUT, env=environment(settings)
            )
        try:
            yield Running(_wait(child, log, url, ready), child.pid)
        finally:
            _stop(child)


def _wait(child: subprocess.Popen[bytes], log: Path, url: str | None, ready: str) -> str:
    """Until the server answers; returns its address."""
    deadline = time.monotonic() + _START_S
    # Whatever proxy the environment names is not for a server on this machine.
    with httpx.Client(trust_env=False, timeout=5) as client:
        while time.monotonic() < deadline:
            if child.poll() is not None:
                raise ServerTrouble(
                    f"the server ended at its start (exit code {child.returncode}):\n{_end(log)}"
                )
            url = url or _address(log)
            if url and _answers(client, url + ready):
                return url
            time.sleep(_POLL_S)
    raise ServerTrouble(f"the server did not answer within {_START_S:.0f} s:\n{_end(log)}")


def _address(log: Path) -> str | None:
    found = _ADDRESS.search(log.read_text("utf-8", "replace"))
    return found[1] if found else None


def _answers(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).status_code == 200
    except httpx.TransportError:
        return False


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _end(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()[-_LOG_LINES:]
    return "\n".join(f"  {line}" for line in lines) or "  (it printed nothing)"
