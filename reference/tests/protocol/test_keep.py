"""KEEP: what an answered request leaves under a name."""

from collections.abc import Callable

import pytest

from tests.protocol.client import Kept, Talk, check_not_used, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import SOON_OVER, asking
from tests.protocol.routes import Route

Namer = Callable[[str], str]
QUESTION = "What does the sea sound like in winter?"


def test_keep_1_is_listed_and_can_be_continued(talk: Talk, name: Namer) -> None:
    plan = name("plan")
    assert plan not in talk.server.handles()
    kept = talk.kept(plan, asking(QUESTION))
    assert kept.answer.keep == "accepted"
    check_used(talk, kept, kept.then("And in summer?"))


def ended_by_turn(talk: Talk, plan: str) -> Kept:
    for question in SOON_OVER:
        kept = talk.kept(plan, (("user", question),), max_tokens=40)
        if kept.answer.finish == "end":
            return kept
    pytest.fail("no reply ended of its own accord")


def ended_by_stop(talk: Talk, plan: str) -> Kept:
    free = talk.twin(asking(QUESTION)).text
    stop = free[len(free) // 2 : len(free) // 2 + 3]
    kept = talk.kept(plan, asking(QUESTION), stop=[stop])
    assert kept.answer.finish == "end" and stop not in kept.answer.text
    assert kept.answer.text and free.startswith(kept.answer.text)
    return kept


def ended_by_limit(talk: Talk, plan: str) -> Kept:
    kept = talk.kept(plan, asking(QUESTION), max_tokens=5)
    assert kept.answer.finish == "length" and kept.answer.good.output == 5
    return kept


def ended_at_once(talk: Talk, plan: str) -> Kept:
    first = talk.twin(asking(QUESTION)).text[0]
    kept = talk.kept(plan, asking(QUESTION), stop=[first])
    assert kept.answer.finish == "end" and kept.answer.text == ""
    return kept


@pytest.mark.parametrize("ending", [ended_by_turn, ended_by_stop, ended_by_limit, ended_at_once])
def test_keep_2_ends_where_the_reply_ends(
    talk: Talk, name: Namer, ending: Callable[[Talk, str], Kept]
) -> None:
    kept = ending(talk, name("plan"))
    check_used_after(talk, kept)


def check_used_after(talk: Talk, kept: Kept) -> None:
    """Two turns on: a seam that is wrong shows up later at the latest (P06)."""
    second = check_used(talk, kept, kept.then("Say it in other words."), keep=kept.name)
    history = kept.then("Say it in other words.")
    again = Kept(kept.name, history, second)
    check_used(talk, again, again.then("And shorter?"))


def test_keep_3_replaces_the_state_and_nothing_else(whole: Talk, name: Namer) -> None:
    plan, other = name("plan"), name("other")
    beside = whole.kept(other, asking("Who built this tower?"))
    first = whole.kept(plan, asking("What is fog?"))
    before = whole.server.handles()
    second = whole.kept(plan, asking("What is foam?"))
    after = whole.server.handles()
    assert set(after) == set(before)
    assert after[other] == before[other]
    check_not_used(whole, "unmatched", first.then("Why?"), plan)
    check_used(whole, second, second.then("Why?"))
    check_used(whole, beside, beside.then("Why?"))


def test_keep_3_at_the_cap_costs_nobody_a_place(start_server: StartServer, route: Route) -> None:
    talk = Talk(start_server(HALOGEN_FORK_HANDLES="2"), route, stream=False)
    oldest = talk.kept("oldest", asking("What is fog?"))
    talk.kept("newest", asking("What is foam?"))
    for question in ("What is salt?", "What is sand?"):
        talk.kept("newest", asking(question))
    assert set(talk.server.handles()) == {"oldest", "newest"}
    check_used(talk, oldest, oldest.then("Why?"))


@pytest.mark.parametrize(
    "broken",
    [
        {"max_tokens": "many"},
        {"temperature": 9},
        {"messages": []},
        {"messages": [{"role": "user", "content": "word " * 4000}]},
        {"response_format": {"type": "json_object"}},
    ],
    ids=["type", "range", "empty", "too long", "unsupported"],
)
def test_keep_4_a_refused_request_keeps_nothing(
    talk: Talk, name: Namer, broken: dict[str, object]
) -> None:
    plan, never = name("plan"), name("never")
    kept = talk.kept(plan, asking("What is fog?"))
    before = talk.server.handles()
    for keep in (plan, never):
        body = talk.route.body(kept.then("Why?"), partial=None, stream=talk.stream)
        refused = talk.post({**body, **broken}, keep=keep, start=plan)
        assert refused.status == 400
        assert refused.outcome in ("used", "unmatched")
    after = talk.server.handles()
    assert never not in after
    assert after[plan]["created_at"] == before[plan]["created_at"]
    assert after[plan]["tokens"] == before[plan]["tokens"]
    check_used(talk, kept, kept.then("Why?"))


def test_keep_6_two_at_once_leave_one_of_the_two(whole: Talk, name: Namer) -> None:
    plan = name("plan")
    histories = [asking("What is fog?"), asking("What is foam?")]
    for _ in range(2):
        answers = whole.many(*({"history": one, "keep": plan} for one in histories))
        both = [Kept(plan, one, answer) for one, answer in zip(histories, answers, strict=True)]
        outcomes = [whole.ask(kept.then("Why?"), start=plan).outcome for kept in both]
        assert sorted(map(str, outcomes)) == ["unmatched", "used"]
        winner = both[outcomes.index("used")]
        check_used(whole, winner, winner.then("Who says so?"))


def test_keep_7_of_several_choices_the_first_is_kept(talk: Talk, name: Namer) -> None:
    plan = name("plan")
    how = {"n": 3, "temperature": 1.2, "seed": 5, "max_tokens": 10}
    kept = talk.kept(plan, asking(QUESTION), **how)
    answer, twin = talk.ask(kept.then("Why?"), start=plan), talk.twin(kept.then("Why?"))
    assert answer.outcome == "used" and answer.good.prompt == twin.good.prompt
    assert answer.cost < twin.cost // 2
