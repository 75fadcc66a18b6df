"""The virtual environment: made if need be, and asked what it holds."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from setup_kit.command import Failed, run
from setup_kit.needs import MIN_PYTHON

# Loads llama.cpp's libraries and runs code of theirs: a wheel compiled for another processor, or
# against another C library, fails here and not in the middle of a request.
ENGINE_CHECK = (
    "import importlib.metadata as m, llama_cpp; llama_cpp.llama_print_system_info(); "
    "print(m.version('llama_cpp_python'))"
)


class Venv:
    """A virtual environment in ``root``; ``python`` is its interpreter."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python = root / "bin" / "python"
        self.logs = root / "log"
        self._engine_key = root / ".engine"

    def make(self, base_python: str, env: dict[str, str]) -> None:
        """Create it with ``base_python`` unless a usable one is there. Raises Failed."""
        if self._usable():
            return
        # An interpreter that has gone or is too old leaves nothing worth keeping.
        run(
            [base_python, "-m", "venv", "--clear", str(self.root)],
            label=f"Making the virtual environment {self.root.name}",
            # Not inside the folder that --clear empties.
            log=self.root.parent / f"{self.root.name}-create.log",
            env=env,
        )
        (self.root.parent / f"{self.root.name}-create.log").unlink(missing_ok=True)

    def install(self, what: Sequence[str], *, label: str, log: str, env: dict[str, str]) -> None:
        """``pip install`` into it. Raises Failed with the end of pip's log."""
        command = [str(self.python), "-m", "pip", "install", "--progress-bar", "off", *what]
        run(command, label=label, log=self.logs / log, env=env)

    def engine_works(self, version: str) -> bool:
        """Whether llama-cpp-python ``version`` is installed and its libraries run."""
        return self._answer(ENGINE_CHECK) == version

    def engine_key(self) -> str | None:
        """The build (see engine_wheel.key) that was installed here; None when not by us."""
        return self._engine_key.read_text().strip() if self._engine_key.exists() else None

    def remember_engine(self, key: str) -> None:
        self._engine_key.write_text(key + "\n")

    def _usable(self) -> bool:
        answer = self._answer("import sys, pip; print(*sys.version_info[:2])")
        return answer is not None and tuple(map(int, answer.split())) >= MIN_PYTHON

    def _answer(self, code: str) -> str | None:
        """What the interpreter prints for ``code``, or None when it cannot run it."""
        try:
            asked = subprocess.run(
                [str(self.python), "-c", code], capture_output=True, text=True, timeout=120
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return asked.stdout.strip() if asked.returncode == 0 else None


def pinned(constraints: Path, name: str) -> str:
    """The exact version a constraints file gives a package. Raises Failed when it has none."""
    for line in constraints.read_text(encoding="utf-8").splitlines():
        package, _, version = line.partition("==")
        if package.strip().lower().replace("_", "-") == name:
            return version.strip()
    raise Failed(f"{constraints.name} has no version for {name}")
