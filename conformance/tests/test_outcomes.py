"""What a test's end says, and what its record becomes."""

from __future__ import annotations

import pytest

from halogen_conformance.events import Check, ExchangeSeen, Note
from halogen_conformance.outcomes import (
    Blocked,
    Ending,
    Miss,
    NotOffered,
    arranged,
    ending_of,
    expect,
    expect_equal,
)
from halogen_conformance.recorder import BODY_LIMIT, Recorder, Subject
from halogen_conformance.target import TargetError, Trouble
from halogen_conformance.verdict import Level, Outcome, Verdict

LEVELS = {"A-1": Level.MUST, "A-2": Level.MUST, "A-3": Level.SHOULD, "A-4": Level.OURS}


def make(*ids: str) -> Recorder:
    return Recorder(Subject("t", ids, "chat", True), LEVELS)


def seen(**values: str) -> ExchangeSeen:
    return ExchangeSeen("", 0, "GET", "/", 1.0, 0.1, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "in_setup", "outcome"),
    [
        (None, False, Outcome.HELD),
        (NotOffered("no restart"), False, Outcome.NOT_OFFERED),
        (pytest.skip.Exception("not here"), True, Outcome.NOT_OFFERED),
        (Blocked("keep failed"), False, Outcome.BLOCKED),
        (AssertionError("x"), True, Outcome.BLOCKED),
        (AssertionError("x"), False, Outcome.MISSED),
        (Miss("a", "b"), False, Outcome.MISSED),
        (pytest.fail.Exception("no"), False, Outcome.MISSED),
        (pytest.fail.Exception("Timeout (>300.0s) from pytest-timeout."), False, Outcome.BROKEN),
        (TargetError(Trouble.DIED, "gone"), False, Outcome.DIED),
        (TargetError(Trouble.UNREACHABLE, "gone"), True, Outcome.DIED),
        (KeyError("x"), False, Outcome.BROKEN),
        (KeyError("x"), True, Outcome.BROKEN),
    ],
)
def test_endings(error: BaseException | None, in_setup: bool, outcome: Outcome) -> None:
    assert ending_of(error, in_setup=in_setup).outcome is outcome


def test_our_own_error_keeps_its_traceback() -> None:
    ending = ending_of(KeyError("x"), in_setup=False, traceback="line 3")
    assert (ending.actual, ending.reason) == ("KeyError: 'x'", "line 3")


def test_expectations_say_both_sides() -> None:
    expect(True, expected="anything", actual="x")
    expect_equal("size", 3, 3)
    arranged(True, "fine")
    with pytest.raises(Miss) as miss:
        expect_equal("size", 4, 3)
    assert (miss.value.expected, miss.value.actual) == ("size: 3", "4")
    with pytest.raises(Miss, match=r"expected a list, got \{'a': 1\}"):
        expect(False, expected="a list", actual={"a": 1})
    with pytest.raises(Blocked, match="no keep"):
        arranged(False, "no keep")


def test_a_test_speaks_about_each_of_its_requirements() -> None:
    checks = make("A-1", "A-3").conclude(Ending(Outcome.HELD))
    assert [(one.requirement, one.verdict) for one in checks] == [
        ("A-1", Verdict.PASS),
        ("A-3", Verdict.PASS),
    ]
    assert {(one.route, one.streaming) for one in checks} == {("chat", True)}


def test_a_miss_that_names_its_requirement_blocks_the_others() -> None:
    checks = make("A-1", "A-2").conclude(Ending(Outcome.MISSED, requirement="A-2"))
    assert [one.verdict for one in checks] == [Verdict.BLOCKED, Verdict.FAIL]
    assert checks[0].reason == "A-2 failed first"


def test_a_miss_of_a_requirement_the_test_is_not_marked_with_is_not_lost() -> None:
    checks = make("A-1").conclude(Ending(Outcome.MISSED, requirement="A-2"))
    assert {one.requirement: one.verdict for one in checks} == {
        "A-1": Verdict.BLOCKED,
        "A-2": Verdict.FAIL,
    }


def test_a_further_check_does_not_end_the_test_and_is_not_overruled_by_its_end() -> None:
    recorder = make("A-1", "A-2")
    assert not recorder.check("A-2", False, expected="x", actual="y")
    assert recorder.check("A-4", True, expected="x", actual="x")
    verdicts = [(one.requirement, one.verdict) for one in recorder.conclude(Ending(Outcome.HELD))]
    assert verdicts == [
        ("A-2", Verdict.FAIL),
        ("A-4", Verdict.INFO),
        ("A-1", Verdict.PASS),
    ]
    with pytest.raises(KeyError):
        recorder.check("A-99", True, expected="", actual="")


def test_only_what_went_wrong_gets_a_script() -> None:
    recorder = make("A-1")
    recorder.exchange(seen())
    assert recorder.conclude(Ending(Outcome.HELD))[0].repro == ""
    assert "curl" in recorder.conclude(Ending(Outcome.MISSED))[0].repro
    assert make("A-1").conclude(Ending(Outcome.MISSED))[0].repro == ""


def test_exchanges_are_numbered_and_long_bodies_are_cut() -> None:
    recorder = make("A-1")
    recorder.exchange(seen())
    recorder.note("a remark")
    recorder.exchange(seen(response_body="x" * (BODY_LIMIT + 5)))
    first, note, second = recorder.drain()
    assert isinstance(first, ExchangeSeen)
    assert isinstance(second, ExchangeSeen)
    assert (first.test, first.number, second.number) == ("t", 1, 2)
    assert note == Note("a remark", "t")
    assert second.response_body.endswith("x… (5 more characters)")
    assert recorder.drain() == []


class Gone:
    """A server that has died."""

    base_url, key, ttl_s, handles = "http://x", None, None, None

    def check_alive(self) -> None:
        raise TargetError(Trouble.DIED, "it died", "last words")


def test_a_failure_on_a_dead_server_is_its_death() -> None:
    recorder = make("A-1")
    recorder.watch(Gone())
    ending = recorder.ending(Ending(Outcome.BLOCKED, reason="no answer"))
    assert (ending.outcome, ending.reason) == (Outcome.DIED, "it died")
    assert "last words" in str(recorder.drain())
    checks: list[Check] = recorder.conclude(ending)
    assert checks[0].verdict is Verdict.FAIL


@pytest.mark.parametrize("outcome", [Outcome.HELD, Outcome.NOT_OFFERED])
def test_a_test_that_did_not_go_wrong_does_not_look_for_the_server(outcome: Outcome) -> None:
    recorder = make("A-1")
    recorder.watch(Gone())
    assert recorder.ending(Ending(outcome)).outcome is outcome
