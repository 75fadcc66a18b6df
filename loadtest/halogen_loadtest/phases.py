"""How the load goes over time: phases of a run, and how many users each has when."""

from collections.abc import Callable
from dataclasses import dataclass

from halogen_loadtest.options import Settings

_QUIET = 0.2
"""Share of the users before and after a spike."""


def _steady(share: float, users: int) -> int:
    return users


def _ramp(share: float, users: int) -> int:
    return max(1, round(users * min(1.0, share)))


def _spike(share: float, users: int) -> int:
    return users if 1 / 3 <= share < 2 / 3 else max(1, round(users * _QUIET))


SHAPES: dict[str, Callable[[float, int], int]] = {
    "closed": _steady,
    "open": _steady,
    "ramp": _ramp,
    "spike": _spike,
    "soak": _steady,
}
"""Shape to the number of users: from the share of the phase that has passed (0 to 1), and the most
users there are."""

DEFAULT_TIME_S = {"soak": 1200.0}
OTHER_TIME_S = 60.0


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run. ``seconds`` is None for one that ends when all users are done."""

    sessions: bool
    seconds: float | None


def phases(settings: Settings, run_time_s: float | None) -> list[Phase]:
    """The phases of a run that lasts ``run_time_s`` (None: as the shape's default)."""
    if settings.iterations:
        return [Phase(True, run_time_s)]
    whole = run_time_s or DEFAULT_TIME_S.get(settings.shape, OTHER_TIME_S)
    if settings.compare:
        return [Phase(True, whole / 2), Phase(False, whole / 2)]
    return [Phase(True, whole)]


def users_at(settings: Settings, users: int, phase: Phase, passed_s: float) -> int:
    """How many users there are so many seconds into a phase."""
    share = passed_s / phase.seconds if phase.seconds else 0.0
    return SHAPES[settings.shape](share, users)
