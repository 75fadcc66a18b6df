"""From figures to an exit code: the order of trust, and every threshold on both its sides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halogen_loadtest.judge.invariants import INVARIANTS
from halogen_loadtest.options import Settings
from halogen_loadtest.summary import Figures, Held, Spread
from halogen_loadtest.verdict import Exit, verdict

NONE = Spread(None, None, None, None)
GOOD = Figures(
    requests=100,
    seconds=10.0,
    results={"answered": 99, "busy": 1},
    outcomes={"used": 90},
    ttft=Spread(0.1, 0.5, 0.6, 0.7),
    gap=NONE,
    wall=NONE,
    prompt=1000,
    evaluated=100,
    output=500,
    meant=100,
    meant_used=90,
    twins=0,
)
CALM = Settings(max_busy_share=0.1)
MUST, SHOULD = INVARIANTS["cost"], INVARIANTS["abandoned"]


def test_all_is_well() -> None:
    assert verdict(CALM, GOOD, [Held(MUST, 5, 0)]).code is Exit.CONFORMS


def test_the_order_of_trust() -> None:
    broken = [Held(MUST, 5, 1)]
    assert verdict(CALM, GOOD, broken).code is Exit.DOES_NOT
    assert verdict(CALM, None, broken).code is Exit.NOTHING_TESTED
    assert verdict(CALM, GOOD, broken, errors=["oops"]).code is Exit.OUR_ERROR
    assert verdict(CALM, GOOD, broken, errors=["oops"], not_offered="x").code is Exit(5)
    assert verdict(CALM, GOOD, broken, errors=["oops"], lost="gone").code is Exit.TARGET_LOST


def test_a_should_is_a_warning_unless_strict() -> None:
    missed = [Held(SHOULD, 5, 1)]
    assert verdict(CALM, GOOD, missed).code is Exit.CONFORMS
    assert verdict(replace(CALM, strict=True), GOOD, missed).code is Exit.DOES_NOT


@pytest.mark.parametrize(
    ("settings", "fine"),
    [
        (replace(CALM, max_ttft_p95=0.5), True),
        (replace(CALM, max_ttft_p95=0.49), False),
        (replace(CALM, min_used_share=0.9), True),
        (replace(CALM, min_used_share=0.91), False),
        (replace(CALM, max_busy_share=0.01), True),
        (replace(CALM, max_busy_share=0.009), False),
    ],
)
def test_thresholds(settings: Settings, fine: bool) -> None:
    assert (verdict(settings, GOOD, []).code is Exit.CONFORMS) is fine


def test_a_threshold_of_which_nothing_was_measured_is_missed() -> None:
    nothing = replace(GOOD, ttft=NONE, meant=0, meant_used=0)
    for settings in (replace(CALM, max_ttft_p95=9.0), replace(CALM, min_used_share=0.1)):
        assert verdict(settings, nothing, []).code is Exit.DOES_NOT
