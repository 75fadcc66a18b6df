"""Shows how far a long build has come: one moving line on a terminal, a few lines elsewhere."""

from __future__ import annotations

import re
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TextIO

# "  [34/83] /usr/bin/c++ ..." as ninja prints it, "[ 41%] Building ..." as make does.
NINJA_STEP = re.compile(r"^\s*\[(\d+)/(\d+)\]")
MAKE_STEP = re.compile(r"^\s*\[\s*(\d{1,3})%\]")

# What pip says it is doing, shown on a terminal until there are steps to count.
ACTIVITY = re.compile(r"^\s*((?:Collecting|Downloading|Building wheel for) \S+|Installing \w+ \w+)")

BAR_WIDTH = 24
REPORTS = 10
"""Without a terminal, a line is printed each time one more of so many parts is done."""


@dataclass(frozen=True)
class Step:
    """Work done and work in all, in the build tool's own steps (per cent for make)."""

    done: int
    total: int

    @property
    def share(self) -> float:
        return self.done / self.total


def read_step(line: str) -> Step | None:
    """The step a line of build output announces, or None for any other line."""
    if found := NINJA_STEP.match(line):
        done, total = int(found[1]), int(found[2])
        return Step(done, total) if 0 <= done <= total and total > 0 else None
    if found := MAKE_STEP.match(line):
        done = int(found[1])
        return Step(done, 100) if done <= 100 else None
    return None


def clock(seconds: float) -> str:
    """Seconds as ``m:ss``."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Progress:
    """Progress of one task, fed with the output of the program that does it.

    ``label`` says what is going on. On a terminal the line is redrawn in place; elsewhere (a log
    file, CI) a line comes at the start, at every tenth of the work, and at the end.
    """

    def __init__(self, label: str, out: TextIO | None = None) -> None:
        self._label = label
        self._out = out if out is not None else sys.stdout
        self._live = self._out.isatty()
        self._began = time.monotonic()
        self._reported = 0
        self._step: Step | None = None
        self._activity = ""
        self._drawn = 0
        self._draw() if self._live else self._line(f"{label} ...")

    def feed(self, line: str) -> None:
        """Take one line of the program's output; redraws or reports when it announces a step."""
        if found := ACTIVITY.match(line):
            self._activity = found[1]
        step = read_step(line)
        if step is not None:
            # A second build tool run inside the first would count from nought again: the display
            # goes forward only, unless the whole size of the work has changed.
            known = self._step
            if known is None or step.total != known.total or step.done >= known.done:
                self._step = step
        if self._live:
            self._draw()
        elif step is not None and (part := step.done * REPORTS // step.total) > self._reported:
            self._reported = part
            self._line(self._text())

    def end(self, outcome: str) -> None:
        """Close the display with what came of it."""
        if self._live:
            self._out.write("\r" + " " * self._drawn + "\r")
        self._line(f"{self._label}: {outcome} ({clock(self._elapsed())})")

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _text(self) -> str:
        step = self._step
        if step is None:
            return f"{self._label} ... {clock(self._elapsed())} {self._activity}".rstrip()
        filled = int(step.share * BAR_WIDTH)
        bar = "#" * filled + "." * (BAR_WIDTH - filled)
        percent = f"{step.share:4.0%}"
        return f"{self._label} [{bar}] {percent} {step.done}/{step.total} {clock(self._elapsed())}"

    def _draw(self) -> None:
        # A line that wraps cannot be redrawn in place.
        text = self._text()[: shutil.get_terminal_size().columns - 1]
        self._out.write("\r" + text.ljust(self._drawn))
        self._out.flush()
        self._drawn = max(self._drawn, len(text))

    def _line(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()
