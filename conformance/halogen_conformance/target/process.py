"""One child process in a process group of its own, its log, and its end."""

import atexit
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from halogen_conformance.target.errors import TargetError, Trouble

_TAIL_LINES = 40
_TAIL_BYTES = 8192


# Below the range from which systems take the ports of outgoing connections.
_FIRST_PORT, _PORTS, _TRIES = 20_000, 12_000, 200
_CLAIMS = 64
_claims: deque[socket.socket] = deque()
_chance = random.SystemRandom()


def free_port() -> int:
    """A TCP port on the loopback that nobody listened on a moment ago. Raises RuntimeError.

    Suites that run side by side never pick the same one between a look and the server's start.
    """
    for port in _chance.sample(range(_FIRST_PORT, _FIRST_PORT + _PORTS), _TRIES):
        claim = _claim(port)
        if claim is None:
            continue
        with socket.socket() as look, contextlib.suppress(OSError):
            look.bind(("127.0.0.1", port))
            _claims.append(claim)
            if len(_claims) > _CLAIMS:
                _claims.popleft().close()
            return port
        claim.close()
    raise RuntimeError(f"no free port among {_TRIES} from {_FIRST_PORT} on")


@atexit.register
def _give_back() -> None:
    while _claims:
        _claims.popleft().close()


def _claim(port: int) -> socket.socket | None:
    """A name that only one process can have, for as long as it lives; None when it is taken."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        if sys.platform == "linux":  # only there a socket can have a name without a file
            claim.bind(f"\0halogen-conformance-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


class Process:
    """A started command. Its standard output and error both go to ``log_path``."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], log_path: Path, cwd: Path | None
    ) -> None:
        """Raises TargetError (BAD_USAGE) when the command cannot be run at all."""
        self.log_path = log_path
        self._command = argv[0]
        with log_path.open("ab") as log:
            try:
                # A session of its own: ending the group ends helpers of the server too, and a
                # Ctrl-C at the console reaches the suite first, which then ends it politely.
                self._child = subprocess.Popen(
                    list(argv),
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                line = f"cannot run {argv[0]!r}: {reason}. Is it installed and on the PATH?"
                raise TargetError(Trouble.BAD_USAGE, line) from None

    @property
    def pid(self) -> int:
        """Process id, which is also the id of its group."""
        return self._child.pid

    def ended(self) -> str:
        """How it ended, in words (``exit status 1``, ``signal 9``); empty while it runs."""
        code = self._poll()
        if code is None:
            return ""
        return f"exit status {code}" if code >= 0 else f"signal {-code}"

    def stop(self, grace_s: float) -> bool:
        """End it politely, then firmly; returns whether the polite way was enough."""
        if self._poll() is None:
            self._signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline and self._poll() is None:
            time.sleep(0.02)
        polite = self._poll() is not None
        self.kill()
        return polite

    def kill(self) -> None:
        """End the whole group at once, as a power cut would."""
        if self._poll() is None:
            self._signal(signal.SIGKILL)
            self._child.wait()

    def _poll(self) -> int | None:
        was_running = self._child.returncode is None
        code = self._child.poll()
        if was_running and code is not None:
            # Helpers it left behind go at once: later the group id may belong to somebody else.
            self._signal(signal.SIGKILL)
        return code

    def log_tail(self) -> str:
        """The last lines of the log."""
        try:
            with self.log_path.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(0, size - _TAIL_BYTES))
                text = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-_TAIL_LINES:])

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in it
            os.killpg(self._child.pid, number)
