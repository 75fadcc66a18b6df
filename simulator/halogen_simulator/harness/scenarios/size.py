"""How large a scenario is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """How large the scenarios are played: branches and levels, each at least 1."""

    workers: int = 4
    """Workers of a plan, candidates of best-of, reviewers."""
    depth: int = 3
    """Levels of the tree search."""
    breadth: int = 2
    """Children of each node of the tree search, and nodes kept at each level."""
