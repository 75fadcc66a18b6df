"""A transcript's file: whole at every moment, whatever crashes; rotated when it is large."""

import resource
import signal
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_simulator.harness import journal as journals
from halogen_simulator.harness.export import export
from halogen_simulator.harness.journal import LOCK, OLD_FILES, ROTATE_AFTER, Journal
from halogen_simulator.harness.record import Message
from halogen_simulator.harness.transcript import Transcript, TranscriptError, parse
from tests.harness.made import MESSAGES, SOME, message, same, sessions


def appended(journal: Journal, transcript: Transcript, one: Message) -> None:
    transcript.add(one)
    journal.append(transcript, one)


def filled(path: Path, *texts: str) -> tuple[Journal, Transcript]:
    journal, transcript = Journal(path), Transcript.new()
    for text in texts:
        appended(journal, transcript, message(text))
    return journal, transcript


def others(path: Path) -> list[str]:
    """What else lies in the folder."""
    return sorted(one.name for one in path.parent.iterdir() if one.name not in (path.name, LOCK))


def test_the_first_write_is_the_whole_session(tmp_path: Path) -> None:
    path = tmp_path / "below" / "a.jsonl"
    transcript = Transcript.new().forked("alt")
    transcript.messages = [message("from the parent")]
    appended(Journal(path), transcript, message("own"))
    assert path.read_bytes() == transcript.printed()
    assert others(path) == []


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    """The folder that is made, its lock, the transcript, old files, and what is exported."""
    folder, out = tmp_path / "sessions", tmp_path / "out"
    out.mkdir()
    journal, transcript = filled(folder / "a.jsonl", "a", "b" * ROTATE_AFTER, "c")
    assert journal.old_files()
    for name in ("a.jsonl", "a.md"):
        export(transcript, out / name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [*folder.iterdir(), *out.iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_later_writes_only_add(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "a")
    before, number = path.read_bytes(), path.stat().st_ino
    appended(journal, transcript, message("b"))
    after = path.read_bytes()
    assert after.startswith(before) and after.count(b"\n") == before.count(b"\n") + 1
    assert path.stat().st_ino == number


def test_an_empty_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    _, transcript = filled(path, "a")
    assert same(Journal(path).load().transcript, transcript)


@SOME
@given(sessions(), st.lists(MESSAGES, min_size=1, max_size=3), MESSAGES, st.data())
def test_a_session_survives_a_crash_at_any_byte(
    transcript: Transcript, added: list[Message], later: Message, data: st.DataObject
) -> None:
    """Saved, appended to, and its last write cut at every byte: all before it loads, and what is
    written afterwards does, too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        journal = Journal(path)
        journal.write(transcript)
        for one in added:
            whole_before = path.read_bytes()
            appended(journal, transcript, one)
        whole = path.read_bytes()
        assert same(journal.load().transcript, transcript)
        for cut in range(len(whole_before), len(whole)):
            loaded = parse(whole[:cut], "a.jsonl", "a")
            # A line that lacks nothing but its end is whole.
            told = len(transcript.messages) - (cut < len(whole) - 1)
            assert loaded.transcript.messages == transcript.messages[:told]
            torn = len(whole_before) < cut < len(whole) - 1
            assert len(loaded.warnings) == torn

        cut = data.draw(st.integers(len(whole_before), len(whole)))
        path.write_bytes(whole[:cut])
        again = Journal(path)
        rest = again.load().transcript
        appended(again, rest, later)
        assert same(Journal(path).load().transcript, rest)


@SOME
@given(sessions(least=1), st.lists(MESSAGES, min_size=3, max_size=6), st.integers(1, 400))
def test_a_session_survives_rotation_and_fork(
    transcript: Transcript, added: list[Message], limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(journals, "ROTATE_AFTER", limit)
        path = Path(folder) / "a.jsonl"
        journal = Journal(path)
        journal.write(transcript)
        for one in added:
            appended(journal, transcript, one)
            assert same(Journal(path).load().transcript, transcript)
        assert len(journal.old_files()) <= OLD_FILES

        fork = transcript.forked("alt")
        forked = Journal(Path(folder) / "b.jsonl")
        forked.write(fork)
        appended(forked, fork, added[0])
        assert same(forked.load().transcript, fork)
        assert same(journal.load().transcript, transcript)


def test_rotation_at_its_size(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "first")
    line = message("x" * 30_000)
    rotated = []
    for _ in range(60):
        before = path.stat().st_size
        old = journal.old_files()
        appended(journal, transcript, line)
        if journal.old_files() != old:
            rotated.append(before)
    assert rotated and rotated[0] < ROTATE_AFTER <= rotated[0] + 31_000
    # It is not rotated again for what it holds anyhow, only for what is added.
    assert len(rotated) == 60 * 30_000 // ROTATE_AFTER
    # Nothing else is left, and the newest file is the whole session.
    assert others(path) == [one.name for one in journal.old_files()]
    assert len(journal.old_files()) == OLD_FILES
    assert same(Journal(path).load().transcript, transcript)
    assert path.read_bytes() == journal.load().transcript.printed()
    # The old ones are what the file was before, the newest last.
    told = [len(Journal(one).load().transcript.messages) for one in journal.old_files()]
    assert told == sorted(told) and told[-1] > ROTATE_AFTER // 30_000


def test_a_large_file_written_whole_stays_as_an_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "x" * ROTATE_AFTER)
    journal.write(Transcript.new())
    assert [same(Journal(one).load().transcript, transcript) for one in journal.old_files()] == [
        True
    ]


def test_rotations_of_one_millisecond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "now_ms", lambda: 5)
    monkeypatch.setattr(journals, "ROTATE_AFTER", 1)
    path = tmp_path / "a.jsonl"
    journal, _ = filled(path, "a", "b", "c", "d")
    numbers = [one.name for one in journal.old_files()]
    assert numbers == ["a.rot-5.jsonl", "a.rot-6.jsonl", "a.rot-7.jsonl"]


def test_old_files_of_another_session_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "ROTATE_AFTER", 1)
    strange = [tmp_path / f"a.b.rot-{n}.jsonl" for n in range(5)] + [tmp_path / "a.rot-x.jsonl"]
    for one in strange:
        one.touch()
    journal, _ = filled(tmp_path / "a.jsonl", *"abcdef")
    assert len(journal.old_files()) == OLD_FILES and all(one.exists() for one in strange)


@pytest.mark.parametrize("moment", ["write", "copy", "rename", "replace"])
def test_a_crash_while_rotating(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Whenever it comes, the session is whole, and the next write clears up."""
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "a", "b")

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journals, "ROTATE_AFTER", 1)
        if moment == "write":
            patch.setattr("os.fsync", crash)
        elif moment == "copy":
            patch.setattr("shutil.copyfileobj", crash)
        else:
            patch.setattr(Path, moment, crash)
        with pytest.raises(KeyboardInterrupt):
            appended(journal, transcript, message("c"))
    assert same(Journal(path).load().transcript, transcript)
    after = Journal(path)
    after.write(transcript)
    assert not [name for name in others(path) if name.endswith(".part")]
    assert same(after.load().transcript, transcript)


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """As far as this process can tell: no file gets more bytes than these."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_line_that_does_not_fit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "a")
    before = path.read_bytes()
    with full_disk(len(before) + 10), pytest.raises(OSError, match="only a part of a line"):
        journal.append(transcript, message("b"))
    assert path.read_bytes() == before


def test_a_whole_file_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "a")
    before = path.read_bytes()
    transcript.add(message("b" * 500))
    with full_disk(len(before) + 100), pytest.raises(OSError, match="File too large"):
        journal.write(transcript)
    assert path.read_bytes() == before


def test_a_compaction_keeps_what_it_replaces_and_what_came_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "a", "b")
    appended(Journal(path), Journal(path).load().transcript, message("of another writer"))
    found = journal.rewrite(lambda now: now.compact("s", len(transcript.messages)))
    assert [one.text for one in found.messages][1:] == ["of another writer"]
    assert same(Journal(path).load().transcript, found)
    (old,) = journal.old_files()
    assert [one.text for one in Journal(old).load().transcript.messages][:2] == ["a", "b"]


def test_a_file_of_the_older_form_is_read_and_never_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"version": 1, "messages": []}')
    before = path.read_bytes()
    journal = Journal(path)
    transcript = journal.load().transcript
    appended(journal, transcript, message("b"))
    assert path.read_bytes() == before
    assert same(Journal(tmp_path / "a.jsonl").load().transcript, transcript)
    again = Journal(path).load()
    assert same(again.transcript, transcript)
    assert again.warnings == (f"{path} goes on in a.jsonl, which is loaded",)


def test_an_older_file_by_the_newer_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"version": 1, "messages": []}')
    with pytest.raises(TranscriptError, match=r"name it \.json"):
        Journal(path).load()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="cannot be read: No such file"):
        Journal(tmp_path / "a.jsonl").load()
    with pytest.raises(TranscriptError, match="cannot be read: Is a directory"):
        Journal(tmp_path).load()


def test_reading_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(Transcript.new().printed())
    Journal(path).load()
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_wrong_record_is_not_lost_by_rotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    journal, transcript = filled(path, "a")
    with path.open("a") as file:
        file.write('{"type":"of a later version"}\n')
    monkeypatch.setattr(journals, "ROTATE_AFTER", 1)
    appended(journal, transcript, message("b"))
    assert b"of a later version" in path.read_bytes()
    with pytest.raises(TranscriptError, match="line 3"):
        journal.load()
