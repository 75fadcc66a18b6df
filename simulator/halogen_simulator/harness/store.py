"""A folder of transcripts: sessions made, forked, found and listed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from halogen_simulator.harness.journal import OLDER_SUFFIX, SUFFIX, Journal, is_old_file
from halogen_simulator.harness.transcript import Loaded, Transcript, TranscriptError


@dataclass(frozen=True, slots=True)
class Listed:
    """One session of the folder. ``transcript`` is None when its file cannot be read, and
    ``trouble`` says why."""

    path: Path
    modified: float
    """Unix time."""
    transcript: Transcript | None
    trouble: str = ""

    @property
    def session_id(self) -> str:
        return self.transcript.session_id if self.transcript else self.path.stem


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of transcripts, one file for each session."""

    folder: Path

    def journal(self, session_id: str) -> Journal:
        """The file of a session that is made now. Its id is our own, so it is a plain name."""
        return Journal(self.folder / f"{session_id}{SUFFIX}")

    def open(self, reference: str) -> tuple[Loaded, Journal]:
        """A session by its file, its id, the beginning of its id, or the name of its branch.
        Raises TranscriptError."""
        journal = Journal(self.find(reference))
        return journal.load(), journal

    def find(self, reference: str) -> Path:
        """The file a reference means. Raises TranscriptError when it means none, or several."""
        direct = Path(reference)
        if direct.is_file():
            return direct
        if direct.suffix in (SUFFIX, OLDER_SUFFIX) or len(direct.parts) != 1:
            raise TranscriptError(f"there is no transcript {reference}")
        exact = self._file(reference)
        if exact is not None:
            return exact
        found = [listed for listed in self.list() if _meant(listed, reference)]
        if not found:
            raise TranscriptError(f"there is no session {reference} in {self.folder}")
        if len(found) > 1:
            ids = ", ".join(listed.session_id for listed in found)
            raise TranscriptError(f"{reference} may be any of {ids}: give the whole id")
        return found[0].path

    def list(self) -> list[Listed]:
        """Every session of the folder, the newest first. Old files of rotations are none."""
        return sorted(self._read(), key=lambda listed: (-listed.modified, listed.session_id))

    def _read(self) -> Iterator[Listed]:
        names = {
            path.stem
            for suffix in (SUFFIX, OLDER_SUFFIX)
            for path in self.folder.glob(f"*{suffix}")
            if not is_old_file(path)
        }
        for name in names:
            path = self._file(name)
            if path is None:
                continue  # removed meanwhile
            try:
                transcript = Journal(path).load().transcript
                yield Listed(path, path.stat().st_mtime, transcript)
            except (TranscriptError, OSError) as error:
                yield Listed(path, 0.0, None, str(error))

    def _file(self, name: str) -> Path | None:
        """Of two files with one name the ``.jsonl`` is the newer form, and is found first."""
        both = (self.folder / f"{name}{suffix}" for suffix in (SUFFIX, OLDER_SUFFIX))
        return next((path for path in both if path.is_file()), None)


def _meant(listed: Listed, reference: str) -> bool:
    fork = listed.transcript.fork if listed.transcript else None
    branch = fork.branch_name if fork else None
    return reference == branch or listed.session_id.startswith(reference)
