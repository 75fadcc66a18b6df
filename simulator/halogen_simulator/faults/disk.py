"""Mistakes with what is on disk (RESTART, NAME-1)."""

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import count
from pathlib import Path

from halogen_reference.engine.protocol import State
from halogen_reference.server import Server
from halogen_reference.sessions.names import Entry
from halogen_reference.sessions.store import Store
from halogen_reference.settings import Settings
from halogen_simulator.engine import SimEngine
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.state import SimState

_DIGEST_BYTES = 32


class _Forgets(Store):
    def scan(self) -> list[Entry]:
        return []


class _OneOnly(Store):
    def scan(self) -> list[Entry]:
        return super().scan()[:1]


class _NoTimePassed(Store):
    def scan(self) -> list[Entry]:
        entries = super().scan()
        for entry in entries:
            path = self._path(entry.name)
            os.utime(path)
            entry.last_used_at = path.stat().st_mtime
        return entries


class _Trusts(Store):
    """A file's checksum is taken to be what it ought to be."""

    def scan(self) -> list[Entry]:
        for path in self._folder.glob("*.kept"):
            content = path.read_bytes()[:-_DIGEST_BYTES]
            path.write_bytes(content + blake2b(content, digest_size=_DIGEST_BYTES).digest())
        return super().scan()


class _TakesAnything(SimEngine):
    async def restore(self, tokens: Sequence[int], data: bytes) -> State:
        own = self.vocabulary_of.marked(tokens)
        state = await super().restore(tokens, data[:16] + own)
        assert isinstance(state, SimState)
        state.data = bytes(data[16:])
        return state


class _RestoresCold(SimEngine):
    """A restored state has its tokens, and all of them are evaluated again."""

    async def restore(self, tokens: Sequence[int], data: bytes) -> State:
        state = await super().restore(tokens, data)
        assert isinstance(state, SimState)
        state.resident = 1
        return state


class _NotesFirst(Store):
    """Names are noted when they are kept, and their states written at a clean stop only."""

    def kept(self, entry: Entry) -> None:
        self._waiting[entry.name] = (entry, entry.kept)
        self._idle.clear()
        self._note({*self._noted(), entry.name})

    def released(self, entry: Entry) -> None:
        super().released(entry)
        self._note(self._noted() - {entry.name})

    async def stop(self) -> None:
        self._work.set()
        await super().stop()

    def scan(self) -> list[Entry]:
        whole = super().scan()
        now, noted = time.time(), self._noted() - {entry.name for entry in whole}
        return whole + [
            Entry(name, None, "header", now, now, None, tokens=1, size=1, on_disk=True)
            for name in sorted(noted)
        ]

    def _noted(self) -> set[str]:
        try:
            return set(json.loads((self._folder / "names").read_bytes()))
        except (OSError, ValueError, TypeError):
            return set()

    def _note(self, names: set[str]) -> None:
        path = self._folder / "names"
        path.write_text(json.dumps(sorted(names)))
        path.chmod(0o600)


class _NamesArePaths(Store):
    def stem(self, name: str) -> str:
        return name


def _trusts_damaged(server: Server) -> None:
    parts.store(_Trusts)(server)
    parts.engine(_TakesAnything)(server)


def _one_fingerprint(server: Server) -> None:
    assert isinstance(server.engine, SimEngine)
    server.engine.fingerprint = "any model"


def _a_folder_of_its_own(settings: Settings) -> Settings:
    """By the process that started the server: it is there again after a restart. Several servers
    of one process take the first that no other of them holds."""
    if settings.cache_dir is not None:
        return settings
    of_parent = Path(tempfile.gettempdir()) / f"halogen-simulator-{os.getppid()}"
    folders = (of_parent / str(number) for number in count())
    return replace(settings, cache_dir=next(folder for folder in folders if _is_free(folder)))


def _is_free(folder: Path) -> bool:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock, suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


FAULTS = (
    Fault(
        "restart-forgets",
        ("RESTART-1",),
        "No name survives a restart.",
        server=parts.store(_Forgets),
    ),
    Fault(
        "restart-brings-one",
        ("RESTART-1",),
        "Only the name used last survives a restart.",
        server=parts.store(_OneOnly),
    ),
    Fault(
        "restart-reads-again",
        ("RESTART-1",),
        "After a restart a name is used and all of it read again.",
        server=parts.engine(_RestoresCold),
    ),
    Fault(
        "remembers-without-folder",
        ("RESTART-2",),
        "Names survive a restart without HALOGEN_CACHE_DIR.",
        settings=_a_folder_of_its_own,
    ),
    Fault(
        "trusts-damaged-files",
        ("RESTART-3", "RESTART-5"),
        "A damaged file is used.",
        server=_trusts_damaged,
    ),
    Fault(
        "trusts-other-models",
        ("RESTART-3",),
        "A file made by another model or with other settings is used.",
        server=_one_fingerprint,
    ),
    Fault(
        "notes-names-first",
        ("RESTART-4",),
        "Names are on disk before their states: killed, the server lists what it has not got.",
        server=parts.store(_NotesFirst),
    ),
    Fault(
        "time-stops-when-down",
        ("RESTART-5",),
        "A restart begins every name's time anew.",
        server=parts.store(_NoTimePassed),
    ),
    Fault(
        "names-are-paths",
        ("NAME-1",),
        "A name is the path of its file.",
        server=parts.store(_NamesArePaths),
    ),
)
