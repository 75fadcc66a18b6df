"""The set-up as somebody meets it whose machine lacks something: lines that say what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[1]
_AS_ANOTHER_PYTHON = """
import runpy, sys
sys.version_info, sys.argv = ({version}, 0, "final", 0), ["setup_kit", "--extras", "dev"]
runpy.run_module("setup_kit", run_name="__main__")
"""


def complaints(*words: str, **environment: str) -> list[str]:
    """What is said on standard error by a set-up that must not begin."""
    ended = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(TOOLS), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr.splitlines()


@pytest.mark.parametrize("version", ["3, 6", "3, 9"])
def test_a_python_that_is_too_old(version: str) -> None:
    """The oldest cannot even read the rest of the set-up."""
    said = complaints("-c", _AS_ANOTHER_PYTHON.format(version=version))
    assert said[0] == "The set-up cannot start:"
    assert f"Python 3.11 or newer is needed, this is {version.replace(', ', '.')} (" in said[1]
    assert "make PYTHON=python3.11" in said[1]


def test_a_machine_without_a_compiler(tmp_path: Path) -> None:
    said = complaints(
        "-m", "setup_kit", "--extras", "dev", "--venv", str(tmp_path / "v"), PATH=str(tmp_path)
    )
    assert said[0] == "The set-up cannot start:" and len(said) == 3
    assert all("apt-get install g++" in line for line in said[1:])
    assert not (tmp_path / "v").exists()
