"""JOIN: starting from one name and keeping another."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.basics import (
    arranged_difference,
    arranged_forks,
    arranged_join,
    arranged_rekeep,
    arranged_twins,
    arranged_unknown,
)
from halogen_conformance.suite.kept import (
    SHORT,
    Kept,
    NewName,
    arranged_used,
    expect_unmatched,
    expect_used,
    fresh,
    keep,
    said,
)
from halogen_conformance.suite.marks import requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared


def go_on(client: Client, driver: Driver, kept: Kept, name: str) -> Answer:
    """Go on after this state, started from this name."""
    return client.ask(driver, kept.then("And on?"), SHORT, start=name)


@requirement("JOIN-1")
@x3
def test_a_join_keeps_the_result_and_leaves_its_start(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    plan, done = new_name("plan"), new_name("done")
    start = keep(client, driver, fresh(plan), options, plan)
    arranged_used(go_on(client, driver, start, plan), "what was kept")
    # What the workers said comes back as a message, as a harness joins them.
    history = start.then("Worker A says: red.", "Worker B says: blue.", "Which is it?")
    twin = ask_twin(client, driver, history, options)

    joined = keep(client, driver, history, options, done, start=plan)

    expect_equal("X-Halogen-From of the join", said(joined.answer), "used")
    expect_twin(joined.answer, twin, declared)
    expect_used("a start from the joined name", go_on(client, driver, joined, done))
    # Had the first name moved along, this shorter history would not be its own any more.
    expect_used("a start from the first name", go_on(client, driver, start, plan))


@requirement("JOIN-1")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_the_joined_name_holds_the_longer_history(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    arranged_difference(client, driver)
    plan, done = new_name("plan"), new_name("done")
    start = keep(client, driver, fresh(plan), SHORT, plan)
    joined = keep(client, driver, start.then("Now join."), SHORT, done, start=plan)
    arranged_used(go_on(client, driver, joined, done), "what was joined")

    # The one difference: this history stops where the first name's state ends.
    shorter = client.ask(driver, start.then("And on?"), SHORT, start=done)

    expect_unmatched("start from the joined name, shorter history", shorter)


@requirement("KEEP-3")
def test_keeping_under_a_live_name_by_a_join_replaces_it(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    arranged_rekeep(client, CHAT)
    arranged_difference(client, CHAT)
    arranged_join(client, CHAT)
    plan, target = new_name("plan"), new_name("target")
    start = keep(client, CHAT, fresh(plan), SHORT, plan)
    old = keep(client, CHAT, fresh(target), SHORT, target)
    arranged_used(go_on(client, CHAT, old, target), "what was kept")

    joined = keep(client, CHAT, start.then("Now join."), SHORT, target, start=plan)

    expect_used("a start from the new state", go_on(client, CHAT, joined, target))
    expect_unmatched("a start from the old one", go_on(client, CHAT, old, target))
    expect_used("a start from the first name", go_on(client, CHAT, start, plan))


@requirement("JOIN-2")
@x3
def test_from_and_keep_of_one_name_moves_it_forward(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    arranged_rekeep(client, driver, options)
    arranged_difference(client, driver)
    name = new_name("forward")
    states = [keep(client, driver, fresh(name), options, name)]
    arranged_used(go_on(client, driver, states[0], name), "what was kept")

    for turn in range(2):
        history = states[-1].then(f"And number {turn}?")
        states.append(keep(client, driver, history, options, name, start=name))
        expect_equal(f"X-Halogen-From at turn {turn + 1}", said(states[-1].answer), "used")
    twin = ask_twin(client, driver, history, options)
    expect_twin(states[-1].answer, twin, declared, "at the last turn")

    expect_used("a start from the last turn", go_on(client, driver, states[-1], name))
    for number, state in enumerate(states[:-1]):
        expect_unmatched(f"a start from turn {number}", go_on(client, driver, state, name))


@requirement("JOIN-2")
def test_a_name_moved_forward_is_listed_once(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    arranged_rekeep(client, CHAT)
    name = new_name("forward")
    kept = keep(client, CHAT, fresh(name), SHORT, name)
    for _ in range(2):
        kept = keep(client, CHAT, kept.then("And on?"), SHORT, name, start=name)
    handles = client.names()
    arranged(handles is not None and handles.names is not None, "the list cannot be read")
    assert handles is not None and handles.names is not None
    once = handles.names.count(name) <= 1
    expect(once, expected="no second entry of the name in the list", actual=handles.body)


@requirement("JOIN-3")
@x3
def test_a_keep_beside_an_unmatched_start_is_honoured(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_forks(client, driver, options)
    arranged_difference(client, driver)
    first, second = new_name("first"), new_name("second")
    old = keep(client, driver, fresh(first), options, first)
    arranged_used(go_on(client, driver, old, first), "what was kept")

    new = keep(client, driver, fresh(new_name("rewritten")), options, second, start=first)

    arranged(said(new.answer) != "used", f"not an unmatched start: {new.answer.story}")
    expect_used("a start from the new name", go_on(client, driver, new, second))
    expect_used("a start from the old one", go_on(client, driver, old, first))


@requirement("JOIN-3")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_rewritten_history_is_used_again_one_turn_later(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    """From and Keep of one name, and the client takes back a message: a miss, then used again."""
    arranged_forks(client, driver)
    arranged_rekeep(client, driver)
    arranged_difference(client, driver)
    name = new_name("forward")
    old = keep(client, driver, fresh(name), SHORT, name)
    rewritten = fresh(new_name("rewritten"))

    new = keep(client, driver, rewritten, SHORT, name, start=name)

    arranged(said(new.answer) != "used", f"not an unmatched start: {new.answer.story}")
    expect_used("a start from the new history", go_on(client, driver, new, name))
    expect_unmatched("a start from the old one", go_on(client, driver, old, name))


@requirement("JOIN-3")
@x3
def test_a_keep_beside_an_unknown_start_is_honoured(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_unknown(client, driver)
    arranged_forks(client, driver, options)
    never, second = new_name("never"), new_name("second")

    kept = keep(client, driver, fresh(second), options, second, start=never)

    arranged(kept.answer.outcome == "unknown", f"not an unknown start: {kept.answer.story}")
    expect_used("a start from what was kept", go_on(client, driver, kept, second))
    gone = client.ask(driver, fresh(never), SHORT, start=never)
    expect_equal("start from the name never kept", said(gone), "unknown")


@requirement("JOIN-3")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_loop_may_begin_with_from_and_keep(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    """The first turn of a harness that always sends both: unknown, and kept all the same."""
    arranged_unknown(client, driver)
    arranged_forks(client, driver)
    name = new_name("itself")

    kept = keep(client, driver, fresh(name), SHORT, name, start=name)

    arranged(kept.answer.outcome == "unknown", f"not an unknown start: {kept.answer.story}")
    expect_used("a start from what was kept", go_on(client, driver, kept, name))
