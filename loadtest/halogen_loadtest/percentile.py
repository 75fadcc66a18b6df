"""Percentiles by nearest rank: each is a value that was measured."""

import math
from collections.abc import Iterable


def percentile(values: Iterable[float], share: float) -> float | None:
    """The value that ``share`` (0 to 1) of the values do not exceed; None of none."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
