"""How far a script is: a bar on a terminal, plain lines where the output goes to a file."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed

PLAIN_WIDTH = 120
"""Columns of a table that is not shown on a terminal."""


def console(plain_width: int = PLAIN_WIDTH) -> Console:
    """Where the scripts print; a table keeps its columns in a log too."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=plain_width)


class Steps(AbstractContextManager["Steps"]):
    """Counts ``total`` steps; each is announced before it begins."""

    def __init__(self, out: Console, total: int) -> None:
        self._out, self._total, self._begun = out, total, 0
        self.prefix = ""
        """Put before what the steps are called."""
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            Elapsed(),
            console=out,
            transient=True,
            disable=not out.is_terminal,
        )
        self._task = self._bar.add_task("", total=total)

    def begin(self, text: str) -> None:
        """The step before is done; this one begins."""
        text = self.prefix + text
        self._bar.update(self._task, description=text, completed=self._begun)
        self._begun += 1
        if not self._out.is_terminal:
            width = len(str(self._total))
            self._out.print(f"({self._begun:>{width}}/{self._total}) {text}", markup=False)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
