"""A run put together from its events, whatever happened to it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from halogen_conformance.capability import cell, matrix
from halogen_conformance.events import (
    Check,
    Event,
    KnownListed,
    RequirementListed,
    RunFinished,
    RunStarted,
    SuiteError,
    TargetLost,
)
from halogen_conformance.report.wording import findings, partly, untried
from halogen_conformance.run import Run, collect, sentence
from halogen_conformance.verdict import Level, Outcome, Verdict, judge

ROWS = {"A-1": Level.MUST, "A-2": Level.MUST, "B-1": Level.SHOULD, "B-2": Level.OURS}


def check(rid: str, outcome: Outcome, route: str = "", streaming: bool | None = None) -> Check:
    verdict = judge(ROWS.get(rid, Level.MUST), outcome)
    reason = "not declared" if outcome is Outcome.NOT_OFFERED else ""
    return Check("t", rid, outcome, verdict, route, streaming, reason=reason)


def run(
    events: Iterable[Event],
    *,
    only: tuple[str, ...] = (),
    finished: bool = True,
    excluded: str = "",
) -> Run:
    rows = [
        RequirementListed(rid, level, rid[0], rid, excluded=excluded if rid == "A-2" else "")
        for rid, level in ROWS.items()
    ]
    end = [RunFinished(0, 2.0)] if finished else []
    return collect([RunStarted("x", 1.0, only=only), *rows, *events, *end])


HELD, MISSED = check("A-1", Outcome.HELD), check("A-1", Outcome.MISSED)


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        ([HELD], 0, "Conforms: 1 of 1 tested MUST requirements hold (1 more not tried)."),
        (
            [HELD, check("B-1", Outcome.MISSED)],
            0,
            "Conforms: 1 of 1 tested MUST requirements hold (1 more not tried). "
            "Also 1 warning(s): B-1.",
        ),
        (
            [MISSED, check("A-2", Outcome.BLOCKED)],
            1,
            "Does not conform: 2 of 2 tested MUST requirements fail: A-1, A-2.",
        ),
        (
            [MISSED, check("A-2", Outcome.HELD), KnownListed("A-1", "old")],
            0,
            "Conforms: 1 of 2 tested MUST requirements hold. Also 1 known failure(s): A-1.",
        ),
        (
            [HELD, KnownListed("A-1", "old")],
            1,
            "Not accepted: the baseline is out of date. A-1 passes; remove the entry.",
        ),
        ([check("A-1", Outcome.NOT_OFFERED)], 5, "No verdict: nothing was tested."),
        ([check("B-2", Outcome.HELD)], 5, "No verdict: nothing was tested."),
        ([TargetLost("it died"), MISSED], 3, "No verdict: the target was lost. it died"),
        (
            [MISSED, SuiteError("x", "y")],
            4,
            "No verdict: 1 error(s) in the suite itself; please report them. "
            "Found so far: A-1 failing.",
        ),
        (
            [check("Z-9", Outcome.HELD), HELD],
            4,
            "No verdict: 1 error(s) in the suite itself; please report them.",
        ),
    ],
)
def test_the_run_in_a_sentence(events: list[Event], code: int, words: str) -> None:
    one = run(events)
    assert (int(one.code), sentence(one)) == (code, words)


def test_a_stream_that_was_cut_off_is_never_green() -> None:
    one = run([HELD], finished=False)
    assert (int(one.code), sentence(one)) == (
        4,
        "No verdict: the run was cut off before its end.",
    )
    assert int(collect([]).code) == 4


def test_what_was_not_tried_is_listed_by_name_with_the_reason() -> None:
    some = [check("A-1", Outcome.NOT_OFFERED), check("B-1", Outcome.HELD, "chat")]
    some.append(check("B-1", Outcome.NOT_OFFERED, "messages"))
    assert untried(run(some, excluded="cannot be seen")) == [
        ("not declared", ["A-1"]),
        ("no test: cannot be seen", ["A-2"]),
        ("no test ran for it", ["B-2"]),
    ]
    assert partly(run(some)) == [("B-1", "messages", "not declared")]


@pytest.mark.parametrize("only", [("A",), ("a-1", "a-2")])
def test_what_only_left_out_is_said_to_be_left_out(only: tuple[str, ...]) -> None:
    assert untried(run([HELD], only=only)) == [
        ("no test ran for it", ["A-2"]),
        ("left out by --only", ["B-1", "B-2"]),
    ]


def test_the_order_of_tests_does_not_show() -> None:
    checks = [check("A-1", Outcome.HELD, route, mode) for route in "cb" for mode in (True, False)]
    assert run(checks).results == run(reversed(checks)).results


def test_checks_that_tell_the_same_are_one_finding_and_the_worst_comes_first() -> None:
    checks = [
        check("A-1", Outcome.HELD, "chat"),
        check("A-1", Outcome.MISSED, "messages", True),
        check("A-1", Outcome.MISSED, "responses", False),
    ]
    first, second = findings(checks)
    assert (first.verdict, first.places) == (
        Verdict.FAIL,
        "messages, streaming; responses, not streaming",
    )
    assert (second.verdict, second.places) == (Verdict.PASS, "chat")


def test_the_matrix_shows_the_worst_verdict_and_where() -> None:
    checks = [
        check("A-1", Outcome.MISSED, "chat", True),
        check("A-1", Outcome.HELD, "chat", False),
        check("A-2", Outcome.HELD, "elsewhere"),
        check("B-2", Outcome.HELD, "messages"),
    ]
    (a, b) = matrix(run(checks))
    assert [one.text for one in a.cells] == ["FAIL 1/2", "·", "·", "PASS 1/1"]
    assert a.cells[0].where == "streaming only"
    assert [one.text for one in b.cells] == ["·", "INFO", "·", "·"]


def test_a_cell_with_a_part_left_out_still_passes_and_does_not_count_it() -> None:
    one = cell([check("A-1", Outcome.HELD), check("A-1", Outcome.NOT_OFFERED)])
    assert (one.text, one.where) == ("PASS 1/1", "")
    assert cell([check("A-1", Outcome.NOT_OFFERED)]).text == "N/A"
