"""RESTART-3: state that cannot be trusted is never used, and the server keeps working."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.restart.comeback import goes_on, is_lost, keep
from tests.restart.conftest import MakeComeback


def _flip(at: Callable[[int], int]) -> Callable[[Path, Path], None]:
    def damage(path: Path, other: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at(len(data))] ^= 1
        path.write_bytes(data)

    return damage


def _cut(share: float) -> Callable[[Path, Path], None]:
    def damage(path: Path, other: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])

    return damage


def _longer(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def _another_names(path: Path, other: Path) -> None:
    shutil.copyfile(other, path)


def _folder(path: Path, other: Path) -> None:
    path.unlink()
    path.mkdir()


def _dead_link(path: Path, other: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


DAMAGE: dict[str, Callable[[Path, Path], None]] = {
    "empty": _cut(0),
    "one byte of the mark": _flip(lambda size: 0),
    "one bit of the header's length": _flip(lambda size: 12),
    "one bit of the header": _flip(lambda size: 60),
    "one bit of the data": _flip(lambda size: size // 2),
    "one bit of the digest": _flip(lambda size: size - 1),
    "a byte too long": _longer,
    "cut in the header": _cut(0.001),
    "cut in the middle": _cut(0.5),
    "the last byte missing": _cut(0.9999),
    "another name's file": _another_names,
    "a folder": _folder,
    "a link to nowhere": _dead_link,
    "gone": lambda path, other: path.unlink(),
}


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_restart_3_a_damaged_file_is_not_used(comeback: MakeComeback, damage: str) -> None:
    server = comeback()
    talk = server.start()
    bad = keep(talk, "bad", "Question?")
    server.written("bad")
    (path,) = server.files()
    good = keep(talk, "good", "Another question?")
    server.stop()
    (other,) = set(server.files()) - {path}
    DAMAGE[damage](path, other)

    talk = server.start()
    assert list(talk.server.handles()) == ["good"], "only what is whole is listed"
    is_lost(talk, bad)
    goes_on(talk, good)
    again = keep(talk, "bad", "Question?")
    goes_on(talk, again)


def test_restart_3_a_file_damaged_while_the_server_runs(comeback: MakeComeback) -> None:
    server = comeback()
    kept = keep(server.start(), "plan", "Question?")
    server.stop()
    talk = server.start()
    (path,) = server.files()
    DAMAGE["one bit of the data"](path, path)
    is_lost(talk, kept)


def test_foreign_files_are_left_alone(comeback: MakeComeback) -> None:
    server = comeback()
    strangers = {"notes.txt": b"mine", "x.kept.bak": b"mine too", "y.kept": b"HALOGEN1"}
    for name, content in strangers.items():
        (server.folder / name).write_bytes(content)
    (server.folder / "half.part").write_bytes(b"a write that was cut off")
    kept = keep(server.start(), "plan", "Question?")
    server.stop()
    goes_on(server.start(), kept)
    for name, content in strangers.items():
        assert (server.folder / name).read_bytes() == content
    assert not list(server.folder.glob("*.part"))
