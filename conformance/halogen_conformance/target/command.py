"""A target that the suite starts itself, once for each settings group its tests need."""

import atexit
import os
import shlex
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from halogen_conformance.drivers.secrets import HIDDEN
from halogen_conformance.target.errors import TargetError, Trouble
from halogen_conformance.target.process import Process, free_port
from halogen_conformance.target.readiness import Seen, wait_ready
from halogen_conformance.target.settings import GOVERNED, GROUPS, Declared, Settings
from halogen_conformance.target.target import Offer

Note = Callable[[str, Settings], None]
"""Told of every ``start``, ``stop`` and ``kill``, for the report."""

_DEFAULT_TTL_S, _DEFAULT_HANDLES = 600.0, 8
_PORT_TRIES = 3

_NOT_READY = {
    Seen.NOTHING: (Trouble.PORT_NEVER_OPENED, "never opened port {port} within {s:g} s"),
    Seen.SILENCE: (Trouble.HANGS, "opened port {port} but gave no HTTP answer within {s:g} s"),
    Seen.GARBAGE: (Trouble.GARBAGE, "answers on port {port} with something that is not HTTP"),
    Seen.BUSY: (Trouble.NOT_READY, "still answered 503 on port {port} after {s:g} s"),
}


def _no_note(_: str, __: Settings) -> None:
    """Tell nobody."""


class Server:
    """One server process that can be stopped, killed and started again, on a new port each time."""

    def __init__(
        self,
        argv: Sequence[str],
        settings: Settings,
        home: Path,
        *,
        start_s: float = 60.0,
        grace_s: float = 10.0,
        extra_env: Mapping[str, str] | None = None,
        note: Note = _no_note,
    ) -> None:
        """Nothing is started yet. ``home`` is an existing directory for the log and the cache."""
        if settings.wants_cache_dir and settings.cache_dir is None:
            settings = settings.within(home / "cache")
        self.settings = settings
        self.log_path = home / "server.log"
        self._argv = list(argv)
        self._start_s, self._grace_s = start_s, grace_s
        self._extra_env = dict(extra_env or {})
        self._note = note
        self._process: Process | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def key(self) -> str | None:
        return self.settings.keys[0] if self.settings.keys else None

    @property
    def ttl_s(self) -> float | None:
        return _DEFAULT_TTL_S if self.settings.ttl_s is None else self.settings.ttl_s

    @property
    def handles(self) -> int | None:
        return _DEFAULT_HANDLES if self.settings.handles is None else self.settings.handles

    def start(self) -> None:
        """Start and wait until it answers. Raises TargetError; nothing is left running then."""
        if self._process is not None:
            raise RuntimeError("the server is started already")
        if self.settings.cache_dir is not None:
            self.settings.cache_dir.mkdir(parents=True, exist_ok=True)
        self._note("start", self.settings)
        for attempt in range(_PORT_TRIES):
            try:
                self._start_once()
                return
            except TargetError as error:
                self._end_now()
                # Another process may have taken the port between our look and the server's.
                taken = "address already in use" in error.log.lower()
                if error.trouble is not Trouble.CRASHED or not taken or attempt == _PORT_TRIES - 1:
                    raise
            except BaseException:
                self._end_now()  # Ctrl-C while waiting must not leave a server behind
                raise

    def _start_once(self) -> None:
        self._port = free_port()
        argv = [word.replace("{port}", str(self._port)) for word in self._argv]
        self._process = Process(argv, self._environment(), self.log_path, None)
        seen = wait_ready(self.base_url, self._start_s, self._check_starting)
        if seen is not Seen.ANSWER:
            trouble, text = _NOT_READY[seen]
            line = f"the server {text.format(port=self._port, s=self._start_s)}"
            if trouble is Trouble.PORT_NEVER_OPENED and argv == self._argv:
                line += "; the command has no {port}, so only HALOGEN_API_PORT told it the port"
            raise TargetError(trouble, line, self.log_tail())

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name not in GOVERNED}
        port = {"HALOGEN_API_PORT": str(self._port)}
        return inherited | self._extra_env | port | self.settings.environment()

    def _check_starting(self) -> None:
        how = self._process.ended() if self._process else ""
        if how:
            line = f"the server ended with {how} before it answered: see the end of its log"
            raise TargetError(Trouble.CRASHED, line, self.log_tail())

    def check_alive(self) -> None:
        """Raises TargetError (DIED) when the process has ended without being asked to."""
        how = self._process.ended() if self._process else "a stop"
        if how:
            line = f"the server has died ({how}): see the end of its log"
            raise TargetError(Trouble.DIED, line, self.log_tail())

    @property
    def alive(self) -> bool:
        return self._process is not None and not self._process.ended()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def stop(self) -> bool:
        """End it politely, then firmly. Returns False when it had to be forced."""
        if self._process is None:
            return True
        self._note("stop", self.settings)
        process, self._process = self._process, None
        return process.stop(self._grace_s)

    def kill(self) -> None:
        """End it without warning (RESTART-4)."""
        self._note("kill", self.settings)
        self._end_now()

    def _end_now(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def restart(self, settings: Settings | None = None) -> None:
        """Stop it if it runs, start it with the same or other settings.

        Settings that want a cache directory and name none get the one used before.
        """
        self.stop()
        if settings is not None:
            if settings.wants_cache_dir and settings.cache_dir is None:
                settings = settings.within(
                    self.settings.cache_dir or self.log_path.parent / "cache"
                )
            self.settings = settings
        self.start()

    def log_tail(self) -> str:
        """The end of the log with the keys hidden."""
        text = self._process.log_tail() if self._process else ""
        for key in self.settings.keys:
            text = text.replace(key, HIDDEN)
        return text


class CommandTarget:
    """Servers made from one argv, kept one for each settings group until ``close``.

    ``argv`` is never split or given to a shell; ``{port}`` in any word becomes the port.
    """

    def __init__(
        self,
        argv: Sequence[str],
        declared: Declared | None = None,
        *,
        home: Path | None = None,
        start_s: float = 60.0,
        grace_s: float = 10.0,
        note: Note = _no_note,
    ) -> None:
        """``home`` gets one folder for each server; a temporary one by default.

        Raises TargetError (BAD_USAGE) for an empty command.
        """
        if not argv or not argv[0]:
            raise TargetError(Trouble.BAD_USAGE, "no command was given after --")
        self.argv = list(argv)
        self.declared = declared or Declared()
        self._temporary = tempfile.TemporaryDirectory(prefix="halogen-") if home is None else None
        self.home = Path(self._temporary.name) if self._temporary else Path(str(home))
        self._start_s = start_s + self.declared.slow_s
        self._grace_s = grace_s
        self._note = note
        self._shared: dict[str, Server] = {}
        self._all: list[Server] = []
        self._lock = threading.Lock()
        atexit.register(self.close)

    @property
    def description(self) -> str:
        return shlex.join(self.argv)

    def offers(self, group: str) -> Offer:
        if group not in GROUPS:
            raise KeyError(f"no settings group is called {group!r}")
        return Offer()

    def running(self, group: str) -> Server:
        """The shared server of a group; a new one after the last died. Raises TargetError."""
        with self._lock:
            server = self._shared.get(group)
            if server is None or not server.alive:
                server = self._shared[group] = self.server(GROUPS[group])
                server.start()
            return server

    def server(self, settings: Settings, *, extra_env: Mapping[str, str] | None = None) -> Server:
        """A server of a test's own, not started yet; the test stops it, ``close`` makes sure."""
        self.home.mkdir(parents=True, exist_ok=True)
        home = Path(tempfile.mkdtemp(prefix=f"{settings.name}-", dir=self.home))
        server = Server(
            self.argv,
            settings.slower(self.declared.slow_s),
            home,
            start_s=self._start_s,
            grace_s=self._grace_s,
            extra_env=extra_env,
            note=self._note,
        )
        self._all.append(server)
        return server

    def close(self) -> None:
        """End every server. Safe to call twice."""
        for server in self._all:
            server.stop()
        self._all.clear()
        self._shared.clear()
        if self._temporary is not None:
            self._temporary.cleanup()
        atexit.unregister(self.close)
