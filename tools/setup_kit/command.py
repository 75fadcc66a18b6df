"""Runs one program of the set-up: its output into a log file, its progress onto the screen."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from setup_kit.progress import Progress

TAIL_LINES = 30
"""How much of a failed program's log is shown."""


class Failed(Exception):
    """A step of the set-up failed; the text tells the reader what happened and what to do."""


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, each cut to what fits a screen."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join("    " + line[:200] for line in text[-lines:])


def run(command: Sequence[str], *, label: str, log: Path, env: Mapping[str, str]) -> None:
    """Run ``command`` with everything it prints in ``log``.

    Raises Failed, with the end of the log in its text, when the program is not found or exits
    with anything but 0. Interrupted (Ctrl-C), it ends the program before it passes that on.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(label)
    with log.open("w", encoding="utf-8") as record:
        try:
            program = subprocess.Popen(
                list(command),
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            progress.end("failed")
            raise Failed(f"{command[0]} could not be started: {error}") from error
        with program:  # closes the pipe, whatever happens
            try:
                assert program.stdout is not None
                for line in program.stdout:
                    record.write(line)
                    progress.feed(line)
                code = program.wait()
            except BaseException:
                program.terminate()
                progress.end("stopped")
                raise
    if code != 0:
        progress.end("failed")
        raise Failed(f"{label} failed (exit code {code}). The log, {log}, ends:\n{tail(log)}")
    progress.end("done")
