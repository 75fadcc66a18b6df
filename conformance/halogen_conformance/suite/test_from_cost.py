"""FROM-7: a used start is real. What is said to be used is not read again."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import expect
from halogen_conformance.suite.basics import arranged_difference, arranged_forks
from halogen_conformance.suite.cost import SLACK, expect_only_new
from halogen_conformance.suite.kept import SHORT, NewName, arranged_used, keep, long_history
from halogen_conformance.suite.marks import requirement, x3


def expect_all_read(answer: Answer, what: str) -> None:
    """The cost of a text the server has never seen is the text. A server that always reports a
    low cost would pass every other test here."""
    usage = answer.reply.usage
    expect(usage is not None, expected=f"usage in the answer to {what}", actual=answer.story)
    assert usage is not None
    expect(
        usage.cost >= usage.prompt // 2,
        expected=f"{what}: most of {usage.prompt} prompt tokens evaluated",
        actual=f"{usage.cost} evaluated, {usage.cached} cached",
    )


@requirement("FROM-7")
@x3
def test_a_used_start_costs_its_new_text(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_forks(client, driver, options)
    name = new_name("kept")
    kept = keep(client, driver, long_history(name), options, name)
    expect_all_read(kept.answer, "a new history")

    answer = client.ask(driver, kept.then("And another one?"), options, start=name)

    arranged_used(answer, "what was kept")
    expect_only_new(answer, kept)


@requirement("FROM-7")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_it_costs_the_same_every_time(client: Client, driver: Driver, new_name: NewName) -> None:
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, long_history(name), SHORT, name)

    for number in range(3):
        history = kept.then(f"Number {number}: and another one?")
        answer = client.ask(driver, history, SHORT, start=name)
        arranged_used(answer, f"start {number + 1} of what was kept")
        expect_only_new(answer, kept, f"start {number + 1}")


@requirement("FROM-7")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_chain_costs_each_turn_once(client: Client, driver: Driver, new_name: NewName) -> None:
    """The plain loop of a harness: each turn starts from the one before."""
    arranged_forks(client, driver)
    name = new_name("turn")
    kept = keep(client, driver, long_history(name), SHORT, name)

    for number in range(3):
        history = kept.then(f"And number {number}?")
        turn = keep(client, driver, history, SHORT, f"{name}-{number}", start=kept.name)
        arranged_used(turn.answer, f"turn {number + 1}")
        expect_only_new(turn.answer, kept, f"turn {number + 1}")
        kept = turn


@requirement("FROM-7")
def test_a_long_reply_is_not_read_again(client: Client, new_name: NewName) -> None:
    """The reply belongs to the kept part, however its text would be cut into tokens anew."""
    arranged_forks(client, CHAT)
    name = new_name("kept")
    long_reply = Options(max_tokens=64)
    kept = keep(client, CHAT, long_history(name).user("Count to forty."), long_reply, name)

    answer = client.ask(CHAT, kept.then("And on?"), SHORT, start=name)

    arranged_used(answer, "what was kept")
    expect_only_new(answer, kept)


@requirement("FROM-7")
def test_another_history_under_the_name_is_read(client: Client, new_name: NewName) -> None:
    """One fact differs from the tests above: the history is not the kept one."""
    arranged_forks(client, CHAT)
    arranged_difference(client, CHAT)
    name, other = new_name("kept"), new_name("other")
    kept = keep(client, CHAT, long_history(name), SHORT, name)
    arranged_used(client.ask(CHAT, kept.then("Go on."), SHORT, start=name), "what was kept")

    answer = client.ask(CHAT, long_history(other), SHORT, start=name)

    expect_all_read(answer, "a history that is not the kept one")


@requirement("FROM-7")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_long_new_text_costs_itself(client: Client, driver: Driver, new_name: NewName) -> None:
    """The other direction: what is new is read, and counted."""
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, long_history(name), SHORT, name)
    short = client.ask(driver, kept.then("Go on."), SHORT, start=name)
    arranged_used(short, "what was kept")
    more = kept.then("Go on. " + "Say a number, then another one that is larger. " * 8)

    long = client.ask(driver, more, SHORT, start=name)

    arranged_used(long, "what was kept")
    expect(
        short.cost is not None and long.cost is not None and long.cost >= short.cost + SLACK,
        expected=f"at least {SLACK} tokens more evaluated for some 80 more tokens of new text",
        actual=f"{short.cost} for the short text, {long.cost} for the long one",
    )
