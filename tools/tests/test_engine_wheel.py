"""The cache of the compiled engine: what its key tells apart, and what counts as whole."""

import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from setup_kit import engine_wheel
from setup_kit.command import Failed
from setup_kit.engine_wheel import build, cache_home, cached, forget, key

NAME = "llama_cpp_python-1.0-py3-none-any.whl"
BASE: dict[str, str] = {}


def put_wheel(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / NAME, "w") as wheel:
        wheel.writestr("llama_cpp/__init__.py", "")
    return folder / NAME


@pytest.mark.parametrize(
    ("xdg", "under"),
    [("/c", Path("/c")), ("", Path.home() / ".cache"), ("not/absolute", Path.home() / ".cache")],
)
def test_the_cache_is_where_the_user_keeps_caches(xdg: str, under: Path) -> None:
    assert cache_home({"XDG_CACHE_HOME": xdg}) == under / "halogen-kit" / "wheels"


def test_the_same_facts_give_the_same_key() -> None:
    assert key("1.0", BASE, "avx avx2") == key("1.0", {"PATH": "x"}, "avx avx2")
    assert key("1.0", BASE, "avx").startswith("1.0-cp3")


@pytest.mark.parametrize("variable", ["CMAKE_ARGS", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS"])
def test_what_changes_the_build_changes_the_key(variable: str) -> None:
    assert key("1.0", {variable: "-x"}, "avx") != key("1.0", BASE, "avx")


def test_another_version_or_processor_is_another_key() -> None:
    keys = {key("1.0", BASE, "avx"), key("1.1", BASE, "avx"), key("1.0", BASE, "avx avx512")}
    assert len(keys) == 3


def test_another_cmake_file_is_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key("1.0", BASE, "avx")
    changed = tmp_path / "engine_only.cmake"
    changed.write_text(engine_wheel.CMAKE_FILE.read_text() + "set(X 1)\n")
    monkeypatch.setattr(engine_wheel, "CMAKE_FILE", changed)
    assert key("1.0", BASE, "avx") != before


def test_a_key_is_a_plain_folder_name() -> None:
    name = key("1.0", {"CMAKE_ARGS": "-DX=/a/b c"}, "x")
    assert Path(name).name == name
    assert " " not in name


def test_only_a_whole_wheel_is_cached(tmp_path: Path) -> None:
    entry = tmp_path / "entry"
    assert cached(entry) is None
    wheel = put_wheel(entry)
    assert cached(entry) == wheel
    wheel.write_bytes(wheel.read_bytes()[:40])
    assert cached(entry) is None
    forget(entry)
    assert not entry.exists()
    forget(entry)


class FakePip:
    """Stands for `pip wheel`: notes how it was called, and leaves a wheel or does not."""

    def __init__(self, *, fails: bool = False, leaves: bool = True) -> None:
        self.fails, self.leaves = fails, leaves
        self.command: Sequence[str] = ()
        self.env: Mapping[str, str] = {}

    def __call__(
        self, command: Sequence[str], *, label: str, log: Path, env: Mapping[str, str]
    ) -> None:
        self.command, self.env = command, env
        if self.leaves:
            put_wheel(Path(command[command.index("--wheel-dir") + 1]))
        if self.fails:
            raise Failed("compiler error")


def run_build(pip: FakePip, entry: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(engine_wheel, "run", pip)
    python, constraints = Path(os.devnull), entry.parent / "constraints.txt"
    log = entry.parent / "log"
    return build("1.0", entry, python=python, constraints=constraints, log=log)


def test_a_build_lands_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_CUDA=ON")
    pip = FakePip()
    entry = tmp_path / "cache" / "key"
    assert run_build(pip, entry, monkeypatch) == cached(entry)
    assert [path.name for path in entry.parent.iterdir()] == ["key"]
    assert "llama-cpp-python==1.0" in pip.command
    # The user's own arguments come last, where CMake lets them win.
    assert pip.env["CMAKE_ARGS"].endswith(" -DGGML_CUDA=ON")
    assert "engine_only.cmake" in pip.env["CMAKE_ARGS"]


@pytest.mark.parametrize("pip", [FakePip(fails=True), FakePip(leaves=False)])
def test_a_failed_build_leaves_nothing(
    pip: FakePip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tmp_path / "cache" / "key"
    with pytest.raises(Failed):
        run_build(pip, entry, monkeypatch)
    assert list(entry.parent.iterdir()) == []
