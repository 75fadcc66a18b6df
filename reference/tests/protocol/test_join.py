"""JOIN: a start and a keep on one request."""

from collections.abc import Callable

from tests.protocol.client import Kept, Talk, check_not_used, check_used
from tests.protocol.histories import asking

Namer = Callable[[str], str]


def test_join_1_keeps_the_result_beside_the_start(talk: Talk, name: Namer) -> None:
    parent = talk.kept(name("parent"), asking("What is fog?"))
    before = talk.server.handles()[parent.name]
    history = parent.then("Is it wet?")
    child = Kept(name("child"), history, check_used(talk, parent, history, keep=name("child")))
    listed = talk.server.handles()
    assert listed[child.name]["parent"] == parent.name
    assert {**listed[parent.name], "last_used_at": 0, "expires_at": 0} == {
        **before,
        "last_used_at": 0,
        "expires_at": 0,
    }
    check_used(talk, child, child.then("Why?"))
    check_used(talk, parent, parent.then("Why?"))
    # A grandchild from the child, and the child's history is not the parent's.
    check_not_used(talk, "unmatched", parent.then("Why?"), child.name)


def test_join_2_moves_a_name_forward(talk: Talk, name: Namer) -> None:
    plan = name("plan")
    kept = talk.kept(plan, asking("What is fog?"))
    for question in ("Is it wet?", "Is it grey?", "Why?"):
        behind = kept.then("Is it old?")
        history = kept.then(question)
        kept = Kept(plan, history, check_used(talk, kept, history, keep=plan))
    assert list(talk.server.handles()).count(plan) == 1
    check_not_used(talk, "unmatched", behind, plan)


def test_join_3_a_keep_beside_a_start_that_fails(talk: Talk, name: Namer) -> None:
    other = talk.kept(name("other"), asking("What is foam?"))
    for outcome, start in (("unmatched", other.name), ("unknown", name("never"))):
        history = asking("What is fog?")
        plan = name(outcome)
        answer = check_not_used(talk, outcome, history, start, keep=plan)
        assert answer.keep == "accepted"
        kept = Kept(plan, history, answer)
        check_used(talk, kept, kept.then("Why?"))
    # P09: the same name as start and keep heals itself: one miss, then used again.
    history = asking("What is salt?")
    healed = Kept(
        other.name,
        history,
        check_not_used(talk, "unmatched", history, other.name, keep=other.name),
    )
    check_used(talk, healed, healed.then("Why?"))
