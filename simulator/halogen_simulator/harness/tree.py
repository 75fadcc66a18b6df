"""Forks drawn as a tree, with what each saved."""

import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from halogen_simulator.harness.lineage import Knot
from halogen_simulator.terminal import Terminal

WIDTH = 110
BAR = 10
# The picture brings no font from anywhere: it uses what the reader's machine has.
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def drawn(knots: Sequence[Knot], here: str | None = None) -> Tree:
    """The knots as one tree. ``here`` is the key of the one to point out."""
    by_key = {knot.key: knot for knot in knots}
    children: dict[str | None, list[Knot]] = {}
    for knot in knots:
        parent = knot.parent if knot.parent in by_key else None
        children.setdefault(parent, []).append(knot)
    whole = Tree(_total(knots), guide_style="dim")
    open_knots: list[tuple[Tree, Knot]] = [(whole, knot) for knot in children.get(None, ())]
    # No recursion: a chain of forks may be as long as it likes.
    while open_knots:
        above, knot = open_knots.pop(0)
        branch = above.add(_label(knot, knot.key == here))
        open_knots += [(branch, child) for child in children.get(knot.key, ())]
    return whole


def show(tree: Tree, out: TextIO) -> None:
    """Print it; coloured on a terminal."""
    Terminal(file=out, width=None if out.isatty() else WIDTH, highlight=False).print(
        tree, soft_wrap=True
    )


def write_svg(tree: Tree, path: Path, title: str) -> None:
    """Raises OSError."""
    console = Console(file=StringIO(), record=True, width=WIDTH, highlight=False)
    console.print(tree)
    path.write_text(_FONTS.sub("", console.export_svg(title=title)), "utf-8")


def _label(knot: Knot, is_here: bool) -> Text:
    label = Text(knot.title, style="bold cyan" if is_here else "bold")
    if is_here:
        label.append(" (here)", style="cyan")
    if knot.note:
        label.append(f"  {knot.note}")
    if knot.requests:
        label.append("  ").append(_bar(knot)).append(f" {knot.saved}")
    return label


def _bar(knot: Knot) -> Text:
    """What was not read again as the full part of a bar."""
    whole = knot.evaluated + knot.reused
    full = round(BAR * knot.reused / whole) if whole else 0
    return Text("█" * full, style="green").append("░" * (BAR - full), style="dim")


def _total(knots: Sequence[Knot]) -> Text:
    evaluated = sum(knot.evaluated for knot in knots)
    reused = sum(knot.reused for knot in knots)
    requests = sum(knot.requests for knot in knots)
    whole = Knot("", None, "", evaluated, reused, requests)
    return Text(f"{requests} request{'' if requests == 1 else 's'}, {whole.saved}", style="italic")
