"""A server that the load test starts itself, from a command with ``{port}`` in it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from halogen_loadtest.target import Target, TargetLost
from halogen_loadtest.verdict import Exit

PORT = "{port}"
_START_S = 120.0
_END_S = 20.0
_POLL_S = 0.1


class NotStarted(Exception):
    """No server answers; the text is one line for the user. ``code`` is the exit code for it."""

    def __init__(self, line: str, code: Exit = Exit.TARGET_LOST) -> None:
        super().__init__(line)
        self.code = code


def free_port() -> int:
    """A port of the loopback address that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: Sequence[str]) -> Iterator[Target]:
    """Runs the command with a free port in place of ``{port}``, sessions switched on unless the
    environment says otherwise, until the block ends. Raises NotStarted."""
    port = free_port()
    words = [word.replace(PORT, str(port)) for word in command]
    environment = {"HALOGEN_FORK": "1", **os.environ}
    try:
        process = subprocess.Popen(
            words, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        why = f"{words[0]!r} cannot be run ({error.strerror}); check the words after --"
        raise NotStarted(why, Exit.USAGE) from None
    # Told to end, we take the server with us: nobody else knows of it.
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        target = Target(f"http://127.0.0.1:{port}")
        _wait(process, target, words[0])
        yield target
    finally:
        signal.signal(signal.SIGTERM, before)
        _end(process)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(int(Exit.OUR_ERROR))


def _wait(process: "subprocess.Popen[bytes]", target: Target, name: str) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise NotStarted(f"{name} ended with code {process.returncode} before it answered")
        with suppress(TargetLost):
            target.get("/")
            return
        time.sleep(_POLL_S)
    raise NotStarted(f"{name} has not answered at {target.url} within {_START_S:.0f} s")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask its whole group to end, then insist."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
            return
