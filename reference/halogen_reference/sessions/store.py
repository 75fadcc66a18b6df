"""Kept conversations on disk, so that they survive a restart (RESTART).

Files are written by a task of its own, after the reply and not on the decode loop's time, and read
when a name is first asked for. A kill at any moment loses at most what was being written.
"""

import asyncio
import fcntl
import hashlib
import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from halogen_reference.engine.protocol import Engine, EngineFailed, StateRejected
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.kept_file import NotWhole, Record, private, read, write
from halogen_reference.sessions.names import Entry

log = logging.getLogger(__name__)

_SUFFIX = ".kept"


class FolderInUse(Exception):
    """Another server works in the folder; the message is one line for the person who set it."""


class Store:
    """A folder of files, one for each name. Implements :class:`names.Witness`.

    ``budget`` is in bytes: beyond it the oldest files go. Raises FolderInUse, OSError.
    """

    def __init__(self, folder: Path, budget: int, engine: Engine) -> None:
        self._folder, self._budget, self._engine = folder, budget, engine
        self._waiting: dict[str, tuple[Entry, Kept]] = {}
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self.lost: Callable[[str], None] = lambda name: None
        """Called with the name of a sleeping conversation whose file had to go."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        self._lock = os.fdopen(os.open(folder / "lock", flags, 0o600), "rb+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise FolderInUse(
                f"HALOGEN_CACHE_DIR={folder} is in use by another server: choose another folder"
            ) from None
        for part in folder.glob("*.part"):
            part.unlink(missing_ok=True)

    def secret(self) -> bytes:
        """32 random bytes that stay the same over restarts (MAP-5). Raises OSError."""
        path = self._folder / "secret"
        if not path.exists() or path.stat().st_size != 32:
            beside = path.with_suffix(".new")
            with private(beside) as file:
                file.write(secrets.token_bytes(32))
            beside.replace(path)
        return path.read_bytes()

    def scan(self) -> list[Entry]:
        """The names whose files are whole, last used first. Damaged files are removed; those of
        another model are left for it."""
        entries = []
        for path in sorted(self._folder.glob(f"*{_SUFFIX}"), key=_used_at, reverse=True):
            try:
                record, _ = read(path, self._engine.fingerprint)
            except NotWhole as error:
                log.warning("%s", error)
                continue
            if path == self._path(record.name):
                entries.append(_asleep(record, _used_at(path)))
        return entries

    async def load(self, entry: Entry) -> Kept | None:
        """Bring a sleeping conversation back; None when its file cannot be trusted after all."""
        path = self._path(entry.name)
        try:
            record, data = await asyncio.to_thread(read, path, self._engine.fingerprint)
            state = await self._engine.restore(record.tokens, data)
        except (NotWhole, StateRejected, EngineFailed) as error:
            log.warning("%s", error)
            return None
        return Kept(record.conversation, state, record.seams)

    def kept(self, entry: Entry) -> None:
        self._waiting[entry.name] = (entry, entry.kept)
        self._idle.clear()
        self._work.set()

    def used(self, entry: Entry) -> None:
        if entry.on_disk:
            self._stamp(entry)

    def released(self, entry: Entry) -> None:
        self._waiting.pop(entry.name, None)
        _remove(self._path(entry.name))

    def start(self) -> None:
        self._task = asyncio.create_task(self._write_all(), name="store")

    async def stop(self) -> None:
        """Write what is waiting, then stop. The engine must still run."""
        if self._task is not None:
            await asyncio.wait(
                [self._task, asyncio.ensure_future(self._idle.wait())],
                return_when=asyncio.FIRST_COMPLETED,
            )
            self._task.cancel()
            await asyncio.wait([self._task])
        self._lock.close()

    async def _write_all(self) -> None:
        while True:
            while self._waiting:
                name = next(iter(self._waiting))
                entry, kept = self._waiting.pop(name)
                try:
                    await self._write(entry, kept)
                except (OSError, EngineFailed) as error:
                    log.warning("%s could not be written to disk: %s", self._path(name), error)
            self._idle.set()
            self._work.clear()
            await self._work.wait()

    async def _write(self, entry: Entry, kept: Kept) -> None:
        if not _current(entry, kept):
            return
        state = kept.state.retain()
        try:
            data = await self._engine.export(state)
        finally:
            state.release()
        record = Record(
            fingerprint=self._engine.fingerprint,
            name=entry.name,
            parent=entry.parent,
            source=entry.source,
            owner=entry.owner,
            created_at=entry.created_at,
            size=kept.state.size,
            tokens=list(kept.state.tokens),
            seams=dict(kept.seams),
            conversation=kept.conversation,
        )
        path = self._path(entry.name)
        await asyncio.to_thread(write, path, record, data)
        if _current(entry, kept):
            entry.on_disk = True
            self._stamp(entry)
        elif not entry.live:
            _remove(path)
        self._keep_budget()

    def _keep_budget(self) -> None:
        files = sorted(self._folder.glob(f"*{_SUFFIX}"), key=_used_at)
        total = sum(path.lstat().st_size for path in files)
        for path in files:
            if total <= self._budget:
                return
            total -= path.lstat().st_size
            _remove(path)
            self.lost(path.stem)

    def stem(self, name: str) -> str:
        """The file of a name, without its ending: a digest, so that no name is a path (NAME-1)."""
        return hashlib.sha256(name.encode()).hexdigest()[:40]

    def _path(self, name: str) -> Path:
        return self._folder / f"{self.stem(name)}{_SUFFIX}"

    def _stamp(self, entry: Entry) -> None:
        try:
            os.utime(self._path(entry.name), (entry.last_used_at, entry.last_used_at))
        except FileNotFoundError:
            entry.on_disk = False


def _current(entry: Entry, kept: Kept) -> bool:
    return entry.live and any(lineage.kept is kept for lineage in entry.lineages)


def _used_at(path: Path) -> float:
    return path.lstat().st_mtime


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("%s cannot be removed: %s", path, error.strerror)


def _asleep(record: Record, used_at: float) -> Entry:
    return Entry(
        record.name,
        record.parent,
        record.source,
        record.created_at,
        used_at,
        record.owner,
        tokens=len(record.tokens),
        size=record.size,
        on_disk=True,
    )
