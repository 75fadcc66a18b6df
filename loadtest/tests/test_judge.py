"""What is right and what is wrong, rule by rule, on answers made by hand."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.exchange import Ending, Exchange
from halogen_conformance.drivers.handles import Handles
from halogen_conformance.drivers.reply import Finish, Problem, Reply, Usage
from halogen_loadtest.judge.expected import PLAIN, REFUSAL, Claim, Expectation, Kept, expect
from halogen_loadtest.judge.judge import SLACK, checks, judge, judge_list, judge_twin
from halogen_loadtest.target import Facts

ROOMY = Facts(cap=8, ttl_s=600, crowded=False)
CROWDED = Facts(cap=8, ttl_s=600, crowded=True)


COUNTED = Usage(100, 90, 4)


def answer(
    *outcomes: str,
    status: int | None = 200,
    text: str = "Fog.",
    usage: Usage | None = COUNTED,
    ending: Ending = Ending.COMPLETE,
    problems: tuple[Problem, ...] = (),
) -> Answer:
    exchange = Exchange(
        method="POST",
        path="/v1/messages",
        route="messages",
        request_headers=(),
        request_body="{}",
        at=0.0,
        seconds=1.0,
        ending=ending,
        status=status,
        headers=tuple(("x-halogen-from", one) for one in outcomes),
    )
    return Answer(exchange, Reply(text, finish=Finish.END, usage=usage), problems)


def kept(size: int = 90, *, sure: bool = True, idle_s: float = 0.0) -> Kept:
    one = Kept("a", Conversation().user("What is fog?"), None, Usage(size - 4, 0, 4), sure=sure)
    one.used_at -= idle_s
    return one


def broken(got: Answer, expected: Expectation, *foreign: str) -> list[str]:
    return [one.invariant for one in judge(got, expected, foreign)]


@pytest.mark.parametrize(
    ("claim", "legal"),
    [
        (Claim.TRUE, frozenset({"used"})),
        (Claim.EDITED, frozenset({"unmatched"})),
        (Claim.NEVER, frozenset({"unknown"})),
        (Claim.UNSURE, frozenset({"used", "unmatched"})),
    ],
)
def test_legal_outcomes(claim: Claim, legal: frozenset[str]) -> None:
    assert expect(claim, ROOMY, kept()).outcomes == legal
    gone = legal | {"unknown"}
    assert expect(claim, CROWDED, kept()).outcomes == gone
    assert expect(claim, ROOMY, kept(idle_s=590)).outcomes == gone


def test_a_name_that_is_not_sure_may_be_either() -> None:
    either = frozenset({"used", "unmatched"})
    assert expect(Claim.TRUE, ROOMY, kept(sure=False)).outcomes == either
    assert expect(Claim.TRUE, ROOMY, kept(sure=False)).kept is None
    assert expect(Claim.NEVER, ROOMY, kept(sure=False)).outcomes == frozenset({"unknown"})


TRUE = expect(Claim.TRUE, ROOMY, kept())


@pytest.mark.parametrize(
    ("got", "expected", "rules"),
    [
        (answer("used"), TRUE, []),
        (answer("unknown"), TRUE, ["outcome-right"]),
        (answer("unmatched"), TRUE, ["outcome-right"]),
        (answer(), TRUE, ["outcome-said"]),
        (answer("used", "used"), TRUE, ["outcome-said"]),
        (answer("maybe"), TRUE, ["outcome-said"]),
        (answer("used"), PLAIN, ["outcome-said"]),
        (answer(), PLAIN, []),
        (answer("used", usage=Usage(100, 0, 4)), TRUE, ["cost"]),
        (answer("used", usage=Usage(100, 100 - 10 - SLACK, 4)), TRUE, []),
        (answer("used", usage=Usage(100, 99 - 10 - SLACK, 4)), TRUE, ["cost"]),
        (answer("used", status=500), TRUE, ["answered"]),
        (answer(status=None, ending=Ending.DIED), TRUE, ["answered"]),
        (answer("used", ending=Ending.IDLE), TRUE, ["answered"]),
        (answer("used", problems=(Problem("event 3", "twice"),)), TRUE, ["answered"]),
        (answer("used", ending=Ending.LEFT), TRUE, []),
        (answer("unknown", ending=Ending.LEFT), TRUE, ["outcome-right"]),
        (answer("used", status=503), TRUE, []),
        (answer(status=400), REFUSAL, []),
        (answer(), REFUSAL, ["answered"]),
    ],
)
def test_answers(got: Answer, expected: Expectation, rules: list[str]) -> None:
    assert broken(got, expected) == rules


def test_words_of_a_sibling() -> None:
    assert broken(answer("used", text="bcdfg123 says"), TRUE, "bcdfg123") == ["isolation"]
    assert broken(answer("used", text="my own"), TRUE, "bcdfg123") == []


def test_a_silent_thread_is_judged_by_its_cost() -> None:
    silent = Expectation(frozenset({"used"}), kept(), may_be_silent=True, about="threads")
    assert broken(answer(), silent) == []
    assert broken(answer(usage=Usage(100, 0, 4)), silent) == ["threads"]
    assert broken(answer("unknown"), silent) == ["threads"]


def test_twins() -> None:
    mine = answer("used")
    other = answer(text="Mist.", usage=Usage(100, 0, 4))
    longer = answer(usage=Usage(101, 0, 4))
    assert judge_twin(mine, answer(usage=Usage(100, 0, 4)), deterministic=True) == []
    assert judge_twin(mine, other, deterministic=False) == []
    assert [one.invariant for one in judge_twin(mine, other, deterministic=True)] == ["twin"]
    assert len(judge_twin(mine, longer, deterministic=False)) == 1
    assert judge_twin(mine, answer(status=500), deterministic=True) == []


def listed(*names: str) -> Handles:
    return Handles({"data": [{"name": name} for name in names]})


@pytest.mark.parametrize(
    ("names", "rules"),
    [
        (["u/a", "other"], []),
        (["other"], ["list"]),
        (["u/a", "u/a"], ["list"]),
        (["u/a", "u/ghost"], ["list"]),
        (["u/a", "b", "c"], ["cap"]),
        (["u/a", "other/ghost"], []),
    ],
)
def test_lists(names: list[str], rules: list[str]) -> None:
    found = judge_list(listed(*names), cap=2, prefix="u/", live=["u/a"], kept=["u/a"])
    assert [one.invariant for one in found] == rules


def test_what_was_checked() -> None:
    assert checks(answer("used"), TRUE, forked=True) == [
        "answered",
        "outcome-said",
        "outcome-right",
        "cost",
        "isolation",
    ]
    assert checks(answer("unknown"), TRUE, forked=False) == [
        "answered",
        "outcome-said",
        "outcome-right",
    ]
    assert checks(answer(), PLAIN, forked=False) == ["answered", "outcome-said"]
    assert checks(answer(status=503), TRUE, forked=True) == []
