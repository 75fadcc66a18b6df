"""The processes of the trials under way, so that none of them outlives us."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

_END_S = 30.0
"""Seconds for a suite to end its servers, before it is ended itself."""


class Interrupted(Exception):
    """The trial was ended from outside: it says nothing."""


class Overdue(Exception):
    """The trial did not come to an end in its time."""


@dataclass(slots=True)
class Children:
    """Safe to share between threads."""

    _running: set[subprocess.Popen[str]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _ended: bool = False

    def run(
        self, command: Sequence[str], env: Mapping[str, str], limit_s: float
    ) -> tuple[int, str]:
        """Run to the end; the exit code, and what was said on both streams.

        Raises Interrupted after or during :meth:`end`, Overdue after ``limit_s`` seconds.
        """
        with self._lock:
            if self._ended:
                raise Interrupted
            process = subprocess.Popen(
                list(command),
                env=dict(env),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            self._running.add(process)
        with process:
            try:
                said, _ = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                _end(process)
                raise Overdue from None
            finally:
                self._running.discard(process)
        if self._ended:
            raise Interrupted
        return process.returncode, said

    def end(self) -> None:
        """Ask all to end; those that would begin do not."""
        with self._lock:
            self._ended = True
            for process in self._running:
                process.terminate()


def _end(process: subprocess.Popen[str]) -> None:
    """It is asked first: killed, it would leave its servers behind."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_END_S)
        return
    process.kill()
    process.communicate()
