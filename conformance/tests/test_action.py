"""The GitHub Action's own script, run as a runner does it: words, exit code, summary page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ACTION = Path(__file__).resolve().parents[2] / "action.yml"
SERVER = Path(__file__).with_name("fake_server.py")


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(ACTION.read_text("utf-8"))
    return loaded


@pytest.fixture
def check(action: dict[str, Any], cli: Any, tmp_path: Path) -> Any:
    """Runs the step that checks; the step that installs is played by this environment."""
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "check")
    program = tmp_path / "halogen-conformance" / "bin" / "halogen-conformance"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m halogen_conformance.cli "$@"\n')
    program.chmod(0o755)

    def run(**inputs: str) -> tuple[int, dict[str, str], str]:
        given = {name: each["default"] for name, each in action["inputs"].items()} | inputs
        names = {name: str(value) for name, value in step["env"].items()}
        env = {
            name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, value in names.items()
        }
        files = {
            name: str(tmp_path / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=tmp_path,
            env=cli.environment | env | files | {"RUNNER_TEMP": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        lines = Path(files["GITHUB_OUTPUT"]).read_text("utf-8").splitlines()
        summary = Path(files["GITHUB_STEP_SUMMARY"])
        told = summary.read_text("utf-8") if summary.exists() else done.stderr
        return done.returncode, dict(line.split("=", 1) for line in lines), told

    return run


def test_a_server_that_does_not_conform(check: Any, tmp_path: Path) -> None:
    # A path with a blank in it, in quotes: one word.
    spaced = tmp_path / "a server.py"
    spaced.symlink_to(SERVER)
    command = f'"{sys.executable}" "{spaced}" {{port}} never-unknown'
    code, outputs, summary = check(command=command, options="--only FROM-5,LIST-1")
    assert (code, outputs) == (1, {"report": "conformance-report", "exit-code": "1"})
    assert "FROM-5" in summary
    assert "Does not conform" in summary
    assert (tmp_path / "conformance-report" / "junit.xml").exists()


def test_no_target_is_a_usage_error(check: Any) -> None:
    code, outputs, told = check()
    assert (code, outputs["exit-code"]) == (2, "2")
    assert "name the target" in told


def test_every_input_is_used_and_every_output_is_made(action: dict[str, Any]) -> None:
    steps = str(action["runs"]["steps"])
    assert all(f"inputs.{name} " in steps for name in action["inputs"])
    assert all(f'"{name}=' in steps for name in action["outputs"])
