"""Which build of the engine the set-up takes: the installed one, the cached one, or a new one."""

from pathlib import Path
from typing import cast

import pytest

from setup_kit import __main__ as setup
from setup_kit import engine_wheel
from setup_kit.command import Failed
from setup_kit.venv import Venv, pinned


class FakeVenv:
    """A virtual environment in which `works` says which wheels' libraries can be loaded."""

    def __init__(self, works: set[str], installed: str = "", key: str | None = None) -> None:
        self.works, self.installed, self.key = works, installed, key
        self.python = Path("python")
        self.logs = Path("logs")

    def install(self, what: list[str], **_: object) -> None:
        self.installed = Path(what[-1]).name

    def engine_works(self, version: str) -> bool:
        return self.installed in self.works

    def engine_key(self) -> str | None:
        return self.key

    def remember_engine(self, key: str) -> None:
        self.key = key


class Cache:
    """The wheel cache and the compiler, on paper."""

    def __init__(self, holds: str | None, builds: str = "new") -> None:
        self.holds, self.builds, self.built = holds, builds, 0

    def cached(self, entry: Path) -> Path | None:
        return None if self.holds is None else entry / self.holds

    def forget(self, entry: Path) -> None:
        self.holds = None

    def build(self, version: str, entry: Path, **_: object) -> Path:
        self.built += 1
        self.holds = self.builds
        return entry / self.builds


def install(venv: FakeVenv, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cached", "forget", "build"):
        monkeypatch.setattr(engine_wheel, name, getattr(cache, name))
    monkeypatch.setattr(engine_wheel, "key", lambda *_: "this-key")
    setup.install_engine(cast(Venv, venv), {})


def test_compiled_the_first_time_and_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    venv, cache = FakeVenv({"new"}), Cache(holds=None)
    install(venv, cache, monkeypatch)
    assert (cache.built, venv.installed, venv.key) == (1, "new", "this-key")
    assert "will now be compiled" in capsys.readouterr().out


def test_taken_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    venv, cache = FakeVenv({"old"}), Cache(holds="old")
    install(venv, cache, monkeypatch)
    assert (cache.built, venv.installed, venv.key) == (0, "old", "this-key")


def test_a_cached_build_that_does_not_work_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    venv, cache = FakeVenv({"new"}), Cache(holds="old")
    install(venv, cache, monkeypatch)
    assert (cache.built, cache.holds, venv.installed) == (1, "new", "new")


def test_a_new_build_that_does_not_work_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    venv, cache = FakeVenv(set()), Cache(holds=None)
    with pytest.raises(Failed, match="cannot be loaded"):
        install(venv, cache, monkeypatch)
    assert (cache.holds, venv.key) == (None, None)


@pytest.mark.parametrize("key", ["this-key", None])
def test_what_is_installed_and_works_stays(
    key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv, cache = FakeVenv({"mine"}, installed="mine", key=key), Cache(holds="old")
    install(venv, cache, monkeypatch)
    assert (cache.built, venv.installed) == (0, "mine")


def test_other_build_settings_bring_another_build(monkeypatch: pytest.MonkeyPatch) -> None:
    venv = FakeVenv({"mine", "new"}, installed="mine", key="key-of-other-settings")
    install(venv, Cache(holds=None), monkeypatch)
    assert (venv.installed, venv.key) == ("new", "this-key")


def test_the_version_comes_from_the_constraints(tmp_path: Path) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("# pins\nllama_cpp_python==0.3.36\nnumpy==2.4.6\n")
    assert pinned(constraints, "llama-cpp-python") == "0.3.36"
    with pytest.raises(Failed, match=r"constraints\.txt has no version for starlette"):
        pinned(constraints, "starlette")


def test_a_machine_that_lacks_something_is_told_before_anything_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("setup_kit.needs.missing", lambda _: ["A C++ compiler is needed."])
    monkeypatch.setattr("sys.argv", ["setup_kit", "--extras", "dev", "--venv", str(tmp_path / "v")])
    assert setup.main() == 1
    assert "cannot start:\n  A C++ compiler" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()
