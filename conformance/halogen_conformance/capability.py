"""The capability matrix: groups of requirements by route, the answer at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halogen_conformance.events import Check
from halogen_conformance.run import Run
from halogen_conformance.verdict import FAILING, Verdict, fold

# What belongs to no single route stands in the last column.
COLUMNS: tuple[tuple[str, str], ...] = (
    ("chat", "Chat Completions"),
    ("messages", "Messages"),
    ("responses", "Responses"),
    ("", "Server"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One group on one route. `verdict` is None where nothing was checked."""

    verdict: Verdict | None
    passed: int = 0
    total: int = 0
    where: str = ""

    @property
    def text(self) -> str:
        """The cell in a few characters; colour is never the only carrier of the meaning."""
        if self.verdict is None:
            return "·"
        if self.verdict in {Verdict.NA, Verdict.INFO}:
            return self.verdict.value
        return f"{self.verdict.value} {self.passed}/{self.total}"


@dataclass(frozen=True, slots=True)
class Line:
    """One group with a cell for each column."""

    group: str
    cells: tuple[Cell, ...]


def _where(checks: Sequence[Check]) -> str:
    """Whether only one way of answering is affected."""
    hit = {check.streaming for check in checks if check.verdict in FAILING | {Verdict.WARN}}
    clean = {check.streaming for check in checks if check.verdict is Verdict.PASS} - hit
    if hit == {True} and False in clean:
        return "streaming only"
    if hit == {False} and True in clean:
        return "not streaming only"
    return ""


def cell(checks: Sequence[Check]) -> Cell:
    """The cell for these checks. INFO checks neither pass nor count."""
    if not checks:
        return Cell(None)
    counted = [check for check in checks if check.verdict not in {Verdict.NA, Verdict.INFO}]
    return Cell(
        fold(check.verdict for check in (counted or checks)),
        sum(check.verdict is Verdict.PASS for check in counted),
        len(counted),
        _where(counted),
    )


def matrix(run: Run) -> tuple[Line, ...]:
    """One line a group, in the order of the requirements."""
    columns = [name for name, _ in COLUMNS]
    lines = []
    for group in dict.fromkeys(result.row.group for result in run.results):
        checks = [
            check for result in run.results if result.row.group == group for check in result.checks
        ]
        cells = tuple(
            cell([one for one in checks if (one.route if one.route in columns else "") == name])
            for name in columns
        )
        lines.append(Line(group, cells))
    return tuple(lines)
