"""The scripts behind `make demo` and `make bench`, run as `make` runs them."""

import os
import subprocess
import sys
from pathlib import Path

_REFERENCE = Path(__file__).resolve().parents[1]


def run(script: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run a script to its end, its output going to a file."""
    command = [sys.executable, str(_REFERENCE / script / "run.py"), *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=280, check=False, env=environment()
    )


def environment() -> dict[str, str]:
    """A colour setting of the person who runs the tests is not part of what is tested."""
    return {name: value for name, value in os.environ.items() if "COLOR" not in name}
