"""What the kit's four commands have in common."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

COMMANDS = ("conformance", "loadtest", "reference", "simulator")


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name(f"halogen-{name}")
    return subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_version_is_the_distributions(name: str) -> None:
    ended = run(name, "--version")
    assert ended.stdout == f"halogen-{name} {version('halogen-sessions-kit')}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_no_error_and_a_wrong_option_is_2(name: str) -> None:
    assert run(name, "--help").stdout.startswith(f"usage: halogen-{name}")
    wrong = run(name, "--no-such-option")
    assert wrong.returncode == 2 and f"halogen-{name}: error: " in wrong.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_completion_is_a_script_of_bash(name: str) -> None:
    script = run(name, "--print-completion", "bash").stdout
    assert f"halogen-{name}" in script
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert checked.returncode == 0 and not checked.stderr


_WITH_EXIT_CODES = [
    "conformance",
    "conformance check",
    "conformance matrix",
    "loadtest",
    "loadtest run",
    "loadtest worker",
    "reference",
    "simulator",
    "simulator serve",
    "simulator traffic",
    "simulator replay",
    "simulator harness",
    "simulator harness scenario",
]


@pytest.mark.parametrize("words", _WITH_EXIT_CODES)
def test_the_help_of_what_runs_in_a_pipeline_lists_its_exit_codes(words: str) -> None:
    name, *more = words.split()
    said = run(name, *more, "--help").stdout
    listed = said.partition("exit codes:\n")[2].splitlines()
    assert [line.split()[0] for line in listed][:1] == ["0"]
    assert [line for line in listed if line.startswith("  2  usage error")]
