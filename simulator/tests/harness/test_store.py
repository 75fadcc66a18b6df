"""A folder of transcripts: what a reference means, and what is listed."""

import os
from pathlib import Path

import pytest

from halogen_simulator.harness import journal as journals
from halogen_simulator.harness.store import Store
from halogen_simulator.harness.transcript import Transcript, TranscriptError
from tests.harness.made import message


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def made(store: Store, name: str, branch: str | None = None, when: int = 0) -> Path:
    transcript = Transcript.new()
    transcript.session_id = name
    transcript.add(message(name))
    if branch is not None:
        transcript = transcript.forked(branch)
        transcript.session_id = name
    journal = store.journal(name)
    journal.write(transcript)
    os.utime(journal.path, (when, when))
    return journal.path


def test_an_id(store: Store) -> None:
    path = made(store, "session-1-0")
    made(store, "session-1-01")
    loaded, journal = store.open("session-1-0")
    assert journal.path == path and loaded.transcript.session_id == "session-1-0"


def test_the_newer_form_is_found_first(store: Store) -> None:
    older = store.folder / "a.json"
    older.write_text('{"version": 1, "session_id": "older", "messages": []}')
    assert store.find("a") == older
    assert store.open("a")[0].transcript.session_id == "older"
    newer = made(store, "a")
    assert store.find("a") == newer
    # By its own name the older one can still be meant; what goes on from it is what counts.
    assert store.open(str(older))[0].transcript.session_id == "a"


@pytest.mark.parametrize("reference", ["session-1-ab", "session-1-a", "alt"])
def test_other_references(store: Store, reference: str) -> None:
    path = made(store, "session-1-abc", "alt")
    made(store, "session-1-b", "other")
    assert store.find(reference) == path


def test_a_file(store: Store, tmp_path: Path) -> None:
    path = made(Store(tmp_path / "elsewhere"), "x")
    assert store.find(str(path)) == path
    assert store.open(str(path))[0].transcript.session_id == "x"


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("x", "there is no session x in "),
        ("x.jsonl", "there is no transcript x.jsonl"),
        ("../session-1-a", "there is no transcript ../session-1-a"),
        ("session-1", "session-1 may be any of session-1-b, session-1-a: give the whole id"),
        ("", "there is no transcript "),
    ],
)
def test_what_means_nothing(store: Store, reference: str, complaint: str) -> None:
    made(store, "session-1-a", when=1)
    made(store, "session-1-b", when=2)
    with pytest.raises(TranscriptError) as caught:
        store.find(reference)
    assert str(caught.value).startswith(complaint)


def test_the_list(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made(store, "b", "alt", when=2)
    made(store, "a", when=3)
    (store.folder / "c.json").write_text('{"version": 1, "messages": []}')
    os.utime(store.folder / "c.json", (1, 1))
    (store.folder / "a.json").write_text("of no interest: there is a newer one")
    (store.folder / "d.jsonl").write_text("[]\n")
    (store.folder / ".e.jsonl.0.part").touch()
    # A rotation's old file is no session of its own.
    monkeypatch.setattr(journals, "ROTATE_AFTER", 1)
    journal = store.journal("a")
    transcript = journal.load().transcript
    journal.append(transcript, message("more"))
    os.utime(journal.path, (3, 3))
    assert journal.old_files()

    listed = store.list()
    assert [one.session_id for one in listed] == ["a", "b", "c", "d"]
    assert listed[0].transcript and len(listed[0].transcript.messages) == 2
    assert listed[1].transcript and listed[1].transcript.fork
    assert listed[3].transcript is None and "line 1" in listed[3].trouble


def test_an_empty_folder(tmp_path: Path) -> None:
    assert Store(tmp_path / "nowhere").list() == []
