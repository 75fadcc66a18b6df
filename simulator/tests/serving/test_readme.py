"""The README's lines are run as they stand, on another port, and print what it says they print."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serving.test_command import COMMAND, ENVIRONMENT, serving

README = Path(__file__).parents[2] / "README.md"
PAIR = re.compile(
    r"^```sh\n((?:(?!```)[^\n]*\n)+)```\n\n```text\n((?:(?!```)[^\n]*\n)+)", re.MULTILINE
)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_readmes_lines(tmp_path: Path) -> None:
    pairs = PAIR.findall(README.read_text("utf-8"))
    assert len(pairs) == 5
    program = tmp_path / "halogen-simulator"
    program.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    with serving("--test-controls", HALOGEN_FORK="1") as http:
        for lines, prints in pairs:
            done = subprocess.run(
                ["sh", "-c", lines.replace("127.0.0.1:8731", f"127.0.0.1:{http.base_url.port}")],
                env=environment,
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
            assert done.stdout.replace("\r", "") == prints, done.stderr
