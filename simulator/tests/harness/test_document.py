"""HARNESS.md: its lines are run as they stand, on another port, and print what it says they print;
its table of commands and its transcript are true."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from halogen_simulator.harness.command import ACTIONS
from halogen_simulator.harness.transcript import parse
from tests.harness.server import served
from tests.serving.test_command import COMMAND, ENVIRONMENT

DOCUMENT = Path(__file__).parents[2] / "HARNESS.md"
PAIR = re.compile(
    r"^```sh\n((?:(?!```)[^\n]*\n)+)```\n\n```text\n((?:(?!```)[^\n]*\n)+)", re.MULTILINE
)
# What differs from run to run, and what stands for it.
MASKS = ((re.compile(r"session-\d+-[0-9a-f]{16}"), "session-ID"), (re.compile(r"\d+ ms"), "N ms"))


def masked(text: str) -> str:
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text


def printed(lines: str, url: str, folder: Path) -> str:
    """What the lines print in a shell of their own, asking the server at ``url``."""
    program = folder / "halogen-simulator"
    program.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    parts = os.pathsep.join(str(DOCUMENT.parents[1] / part) for part in PARTS)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    command = "halogen-simulator harness"
    done = subprocess.run(
        ["sh", "-c", lines.replace(command, f"{command} --base-url {url}")],
        env={**ENVIRONMENT, "PYTHONPATH": parts, "PATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + done.stderr


PARTS = ("reference", "simulator", "conformance")


@pytest.mark.parametrize(("lines", "prints"), PAIR.findall(DOCUMENT.read_text("utf-8")))
def test_the_documents_lines(lines: str, prints: str, tmp_path: Path) -> None:
    with served() as fresh:
        assert masked(printed(lines, fresh.url, tmp_path)) == masked(prints)


def test_there_are_lines_to_run() -> None:
    assert len(PAIR.findall(DOCUMENT.read_text("utf-8"))) == 3


def test_the_table_of_commands() -> None:
    rows = re.findall(r"^\| ((?:`/[^`]*`(?:, )?)+) \|", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    shown = [usage for row in rows for usage in re.findall(r"`/([^`]*)`", row)]
    known = [f"{name} {action.takes}".strip() for name, action in ACTIONS.items()]
    assert shown == known


def test_the_transcript_that_is_shown() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.S | re.M)
    loaded = parse(shown.encode(), "HARNESS.md", "x")
    assert loaded.warnings == ()
    assert loaded.transcript.printed().decode() == shown
