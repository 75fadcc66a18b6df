"""The file's format: what was written is read, and anything else is noticed."""

import asyncio
import stat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.conversation import (
    Assistant,
    Conversation,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
)
from halogen_reference.engine.protocol import Engine
from halogen_reference.prompt import Seam
from halogen_reference.sessions.kept import Position
from halogen_reference.sessions.kept_file import NotWhole, Record, read, write
from halogen_reference.sessions.store import Store

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
CALL = st.builds(ToolCall, TEXT, TEXT, TEXT)
ITEM = st.one_of(
    st.builds(System, TEXT),
    st.builds(User, TEXT),
    st.builds(Assistant, TEXT, st.none() | TEXT, st.lists(CALL, max_size=2).map(tuple)),
    st.builds(ToolResult, TEXT, TEXT, st.booleans()),
)
CONVERSATION = st.builds(
    Conversation,
    st.lists(ITEM, max_size=4).map(tuple),
    st.lists(st.builds(Tool, TEXT, TEXT, TEXT), max_size=2).map(tuple),
)
SMALL = st.integers(0, 10**6)
RECORD = st.builds(
    Record,
    fingerprint=st.just("model"),
    name=TEXT,
    parent=st.none() | TEXT,
    source=TEXT,
    owner=st.none() | TEXT,
    created_at=st.floats(0, 2e9),
    size=SMALL,
    tokens=st.lists(SMALL, max_size=8),
    seams=st.dictionaries(
        st.builds(Seam, SMALL, st.booleans()), st.builds(Position, SMALL, SMALL), max_size=4
    ),
    conversation=CONVERSATION,
)


@given(RECORD, st.binary(max_size=64))
def test_what_was_written_is_read(record: Record, data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.kept"
        write(path, record, data)
        assert read(path, "model") == (record, data)
        assert list(Path(folder).iterdir()) == [path], "nothing is left beside it"


@given(RECORD, st.binary(min_size=1, max_size=64), st.data())
def test_any_change_is_noticed(record: Record, data: bytes, draw: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.kept"
        write(path, record, data)
        whole = path.read_bytes()
        at = draw.draw(st.integers(0, len(whole) - 1))
        bit = draw.draw(st.integers(0, 7))
        changed = bytearray(whole)
        changed[at] ^= 1 << bit
        for content in (bytes(changed), whole[:at], whole + b"x"):
            path.write_bytes(content)
            with pytest.raises(NotWhole):
                read(path, "model")


@given(RECORD)
def test_another_engines_file_is_not_used(record: Record) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.kept"
        write(path, record, b"state")
        with pytest.raises(NotWhole, match="another model"):
            read(path, "another model")


def test_a_folder_that_is_made_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    store = Store(folder, 1, cast(Engine, None))
    asyncio.run(store.stop())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_lies_in_the_way_does_not_decide_who_reads(tmp_path: Path) -> None:
    """A file of everybody's, or a link, where the next one will be written beside."""
    record = Record("model", "n", None, "keep", None, 0.0, 0, [], {}, Conversation((), ()))
    other, kept, beside = (tmp_path / name for name in ("other", "a.kept", "a.part"))
    other.write_text("not ours")
    beside.symlink_to(other)
    write(kept, record, b"data")
    beside.touch()
    beside.chmod(0o666)
    write(kept, record, b"data")
    assert stat.S_IMODE(kept.lstat().st_mode) == 0o600 and not kept.is_symlink()
    assert other.read_text() == "not ours"
