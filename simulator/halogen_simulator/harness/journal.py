"""A transcript's file: appended to line by line, whole at every moment, safe for several writers.

Whoever writes holds the lock of the folder, so that no two processes' lines mix and no line is
written to a file that is just being replaced. The lock is a file of its own, because the
transcript's own file changes its identity when it is written whole.
"""

import fcntl
import glob
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

from halogen_simulator.harness.record import Message, MessageLine, print_record
from halogen_simulator.harness.transcript import (
    Loaded,
    Transcript,
    TranscriptError,
    now_ms,
    parse,
)

ROTATE_AFTER = 256 * 1024
"""Bytes. So much appended, and the file is written anew; the old one stays beside it."""

OLD_FILES = 3
LOCK = ".transcripts.lock"
SUFFIX, OLDER_SUFFIX = ".jsonl", ".json"
_ROTATED = ".rot-"


class Journal:
    """The file of one session. Not shared between threads: each opens its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written_whole = 0
        """Bytes of the file when this journal last wrote it whole."""

    def load(self) -> Loaded:
        """What the file holds. Raises TranscriptError.

        A file of the older form is only read: its session goes on in a ``.jsonl`` beside it, and
        once that is there, it is what is loaded.
        """
        loaded = self._read()
        if not loaded.older_form:
            return loaded
        newer = self.path.with_suffix(SUFFIX)
        if newer == self.path:
            raise TranscriptError(f"{newer}: it holds one JSON object; name it {OLDER_SUFFIX}")
        older, self.path = self.path, newer
        if not newer.exists():
            return loaded
        again = self._read()
        note = f"{older} goes on in {newer.name}, which is loaded"
        return Loaded(again.transcript, (note, *again.warnings))

    def append(self, transcript: Transcript, message: Message) -> None:
        """Add the transcript's newest message. A file that is not there yet, or empty, is written
        whole from the transcript instead. Raises OSError; the file is then as it was."""
        line = print_record(MessageLine(message=message))
        with self._locked():
            if not _size(self.path):
                self._write_whole(transcript.printed())
                return
            _append(self.path, line)
            if _size(self.path) - self._written_whole >= ROTATE_AFTER:
                self._rotate()

    def write(self, transcript: Transcript) -> None:
        """Write the session whole. A file that is replaced and large stays as an old one."""
        with self._locked():
            if _size(self.path) >= ROTATE_AFTER:
                self._set_aside()
            self._write_whole(transcript.printed())

    def rewrite(self, change: Callable[[Transcript], None]) -> Transcript:
        """Change the session as the file holds it now, so that what another writer has added is
        not lost. What is replaced stays as an old file. Raises TranscriptError."""
        with self._locked():
            transcript = self._parsed().transcript
            change(transcript)
            self._set_aside()
            self._write_whole(transcript.printed())
            return transcript

    def old_files(self) -> list[Path]:
        """What rotation left, the oldest first."""
        found = [
            (int(number), path)
            for path in self.path.parent.glob(f"*{_ROTATED}*{SUFFIX}")
            for stem, _, number in [path.stem.rpartition(_ROTATED)]
            if stem == self.path.stem and number.isdecimal()
        ]
        return [path for _, path in sorted(found)]

    def _read(self) -> Loaded:
        # Readers leave no lock file behind where nobody writes.
        if (self.path.parent / LOCK).exists():
            with self._locked(fcntl.LOCK_SH):
                return self._parsed()
        return self._parsed()

    def _parsed(self) -> Loaded:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            reason = error.strerror or error
            raise TranscriptError(f"{self.path} cannot be read: {reason}") from None
        return parse(data, str(self.path), self.path.stem)

    def _rotate(self) -> None:
        try:
            whole = self._parsed().transcript.printed()
        except TranscriptError:
            return  # Nothing is lost by leaving it; whoever loads it is told the line.
        self._set_aside()
        self._write_whole(whole)

    def _set_aside(self) -> None:
        """Keep the file as an old one. It is copied, not moved: the session is never without its
        file, whenever a crash comes."""
        if not self.path.exists():
            return
        number = now_ms()
        while (aside := self._old_file(number)).exists():
            number += 1
        copy = _beside(self.path)
        with self.path.open("rb") as old, private(copy, "xb") as file:
            shutil.copyfileobj(old, file)
        copy.rename(aside)
        for stale in self.old_files()[:-OLD_FILES]:
            stale.unlink()

    def _old_file(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.stem}{_ROTATED}{number}{SUFFIX}")

    def _write_whole(self, data: bytes) -> None:
        # Only writers make these files, and there is one at a time: these are of crashes.
        for torn in self.path.parent.glob(f".{glob.escape(self.path.name)}.*.part"):
            torn.unlink()
        part = _beside(self.path)
        with private(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)
        self._written_whole = len(data)

    @contextmanager
    def _locked(self, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
        folder = self.path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with private(folder / LOCK, "ab") as lock:
            # Let go by closing, also when the process dies.
            fcntl.flock(lock, kind)
            yield


def is_old_file(path: Path) -> bool:
    """Left by a rotation: not a session of its own."""
    return path.suffix == SUFFIX and path.stem.rpartition(_ROTATED)[2].isdecimal()


def private(path: Path, mode: Literal["xb", "ab"]) -> BinaryIO:
    """Open a file; one that is made is for its owner's eyes only. What was said to a program, and
    what its tools read, is nobody else's. Raises OSError."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def _append(path: Path, line: bytes) -> None:
    """One write at the end of the file. A last line that a crash has torn is closed first, so that
    it takes no other with it."""
    with path.open("a+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        torn = os.pread(file.fileno(), 1, size - 1) != b"\n"
        data = b"\n" + line if torn else line
        if file.write(data) != len(data):
            file.truncate(size)
            raise OSError(f"{path}: only a part of a line could be written (is the disk full?)")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")


def _size(path: Path) -> int:
    """0 for a file that is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
