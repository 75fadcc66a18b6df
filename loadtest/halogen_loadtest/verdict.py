"""What a run is worth: its exit code, and the sentences that say why."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from halogen_loadtest.options import Settings
from halogen_loadtest.summary import Figures, Held

VERDICT = "HALOGEN_LOADTEST_VERDICT"
"""The environment variable with the path of the file that the exit code is written to, for a
caller that must tell it from Locust's own codes."""


class Exit(IntEnum):
    """The conformance suite's codes; CI jobs rely on the numbers."""

    CONFORMS = 0
    DOES_NOT = 1
    USAGE = 2
    TARGET_LOST = 3
    OUR_ERROR = 4
    NOTHING_TESTED = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """The exit code of a run, and why: one sentence for each reason."""

    code: Exit
    reasons: tuple[str, ...]


def verdict(
    settings: Settings,
    figures: Figures | None,
    invariants: Sequence[Held],
    *,
    lost: str = "",
    not_offered: str = "",
    errors: Sequence[str] = (),
) -> Verdict:
    """The order is the order of trust: after a lost server everything else is a consequence, after
    an error of ours no figure can be relied on, and nothing wrong is good news only if something
    was tested."""
    if lost:
        return Verdict(Exit.TARGET_LOST, (lost,))
    if not_offered:
        return Verdict(Exit.NOTHING_TESTED, (not_offered,))
    if errors:
        return Verdict(Exit.OUR_ERROR, tuple(errors))
    if figures is None:
        return Verdict(Exit.NOTHING_TESTED, ("no exchange was completed",))
    reasons = [*_broken(settings, invariants), *_beyond(settings, figures)]
    return Verdict(Exit.DOES_NOT if reasons else Exit.CONFORMS, tuple(reasons))


def _broken(settings: Settings, invariants: Sequence[Held]) -> list[str]:
    return [
        f"{one.invariant.id} ({', '.join(one.invariant.rows)}) was broken {_times(one.broken)}"
        for one in invariants
        if one.broken and (one.invariant.must or settings.strict)
    ]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _beyond(settings: Settings, figures: Figures) -> list[str]:
    """Thresholds that were missed. One that nothing was measured for is missed, too."""
    reasons = []
    limit, ttft = settings.max_ttft_p95, figures.ttft.p95
    if limit and (ttft is None or ttft > limit):
        got = "no first piece came at all" if ttft is None else f"it was {ttft:.3f} s"
        reasons.append(f"--max-ttft-p95 is {limit:g} s, {got}")
    least, used = settings.min_used_share, figures.used_share
    if least and (used is None or used < least):
        got = "no request went on from a name" if used is None else f"{used:.3f} were used"
        reasons.append(f"--min-used-share is {least:g}, {got}")
    if figures.busy_share > settings.max_busy_share:
        busy = figures.results.get("busy", 0)
        reasons.append(
            f"{busy:,} of {figures.requests:,} requests were turned away (429, 503, 529); "
            f"--max-busy-share is {settings.max_busy_share:g}"
        )
    return reasons
