"""From outcomes to verdicts to the exit code: every row of the tables, and laws over them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.verdict import (
    SEVERITY,
    Exit,
    Level,
    Outcome,
    Tally,
    Verdict,
    exit_code,
    fold,
    judge,
    tally,
)

VERDICTS = st.sampled_from(Verdict)
RUNS = st.dictionaries(st.integers(0, 40).map("R-{}".format), VERDICTS, max_size=12)


@pytest.mark.parametrize(
    ("level", "outcome", "verdict"),
    [
        (Level.MUST, Outcome.HELD, Verdict.PASS),
        (Level.MUST, Outcome.MISSED, Verdict.FAIL),
        (Level.MUST, Outcome.NOT_OFFERED, Verdict.NA),
        (Level.MUST, Outcome.BLOCKED, Verdict.BLOCKED),
        (Level.MUST, Outcome.BROKEN, Verdict.ERROR),
        (Level.MUST, Outcome.DIED, Verdict.FAIL),
        (Level.SHOULD, Outcome.HELD, Verdict.PASS),
        (Level.SHOULD, Outcome.MISSED, Verdict.WARN),
        (Level.SHOULD, Outcome.NOT_OFFERED, Verdict.NA),
        (Level.SHOULD, Outcome.BLOCKED, Verdict.WARN),
        (Level.SHOULD, Outcome.BROKEN, Verdict.ERROR),
        (Level.SHOULD, Outcome.DIED, Verdict.WARN),
        (Level.OURS, Outcome.HELD, Verdict.INFO),
        (Level.OURS, Outcome.MISSED, Verdict.INFO),
        (Level.OURS, Outcome.NOT_OFFERED, Verdict.NA),
        (Level.OURS, Outcome.BLOCKED, Verdict.INFO),
        (Level.OURS, Outcome.BROKEN, Verdict.ERROR),
        (Level.OURS, Outcome.DIED, Verdict.INFO),
    ],
)
def test_judgement(level: Level, outcome: Outcome, verdict: Verdict) -> None:
    assert judge(level, outcome) is verdict


def test_every_outcome_has_a_verdict_at_every_level() -> None:
    assert all(judge(level, outcome) in Verdict for level in Level for outcome in Outcome)
    assert sorted(SEVERITY) == sorted(Verdict)


def test_nothing_checked_is_never_a_pass() -> None:
    assert fold([]) is Verdict.NA
    assert fold([Verdict.NA, Verdict.NA]) is Verdict.NA


@given(st.lists(VERDICTS), st.lists(VERDICTS))
def test_folding_is_the_worst_of_all_in_any_order(one: list[Verdict], two: list[Verdict]) -> None:
    assert fold(one + two) is fold(two + one) is fold([fold(one), fold(two)])


@given(st.lists(VERDICTS, min_size=1))
def test_one_failure_cannot_be_outvoted(verdicts: list[Verdict]) -> None:
    assert fold([*verdicts, Verdict.FAIL]) is Verdict.FAIL


@given(RUNS)
def test_a_tally_puts_each_requirement_in_one_place(run: dict[str, Verdict]) -> None:
    score = tally(run)
    fields = (getattr(score, name) for name in Tally.__slots__)
    assert sorted(rid for ids in fields for rid in ids) == sorted(run)


@given(RUNS, st.booleans(), st.integers(0, 2))
def test_green_means_something_was_tested_and_nothing_failed(
    run: dict[str, Verdict], lost: bool, errors: int
) -> None:
    code = exit_code(tally(run), lost=lost, suite_errors=errors)
    bad = {Verdict.FAIL, Verdict.BLOCKED, Verdict.ERROR}
    green = (
        not lost
        and not errors
        and not bad & set(run.values())
        and bool({Verdict.PASS, Verdict.WARN} & set(run.values()))
    )
    assert (code is Exit.CONFORMS) is green


@given(RUNS, RUNS)
def test_na_and_info_never_change_the_exit_code(
    run: dict[str, Verdict], more: dict[str, Verdict]
) -> None:
    silent = {f"X{rid}": Verdict.NA for rid in more} | {f"Y{rid}": Verdict.INFO for rid in more}
    assert exit_code(tally(run | silent)) is exit_code(tally(run))


@given(RUNS, st.sets(st.integers(0, 40).map("R-{}".format)))
def test_a_baseline_excuses_what_fails_and_accuses_what_passes(
    run: dict[str, Verdict], listed: set[str]
) -> None:
    score = tally(run, listed)
    excusable = {Verdict.FAIL, Verdict.BLOCKED, Verdict.WARN}
    assert set(score.known) == {rid for rid in listed if run.get(rid) in excusable}
    assert set(score.stale) == {rid for rid in listed if run.get(rid) is Verdict.PASS}
    assert not set(score.known) & {*score.failed, *score.blocked, *score.warned}
    if score.stale and not score.errors:
        assert exit_code(score) is Exit.DOES_NOT


@pytest.mark.parametrize(
    ("run", "lost", "errors", "code"),
    [
        ({}, False, 0, 5),
        ({"A": Verdict.NA, "B": Verdict.INFO}, False, 0, 5),
        ({"A": Verdict.PASS, "B": Verdict.NA}, False, 0, 0),
        ({"A": Verdict.WARN}, False, 0, 0),
        ({"A": Verdict.PASS, "B": Verdict.BLOCKED}, False, 0, 1),
        ({"A": Verdict.FAIL}, False, 0, 1),
        ({"A": Verdict.FAIL, "B": Verdict.ERROR}, False, 0, 4),
        ({"A": Verdict.PASS}, False, 1, 4),
        ({"A": Verdict.ERROR}, True, 1, 3),
        ({}, True, 0, 3),
    ],
)
def test_exit_codes(run: dict[str, Verdict], lost: bool, errors: int, code: int) -> None:
    assert exit_code(tally(run), lost=lost, suite_errors=errors) == code


def test_a_run_of_known_failures_only_was_still_tested() -> None:
    assert exit_code(tally({"A": Verdict.FAIL}, ["A"])) is Exit.CONFORMS
