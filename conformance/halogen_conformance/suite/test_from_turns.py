"""FROM-12, FROM-13: reasoning, and system messages in the middle of a conversation."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Assistant, Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import NotOffered, expect_equal
from halogen_conformance.suite.basics import arranged_cheap
from halogen_conformance.suite.cost import expect_only_new
from halogen_conformance.suite.kept import (
    SHORT,
    NewName,
    arranged_used,
    expect_unmatched,
    fresh,
    keep,
    long_history,
    said,
)
from halogen_conformance.suite.marks import requirement


@requirement("FROM-12")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_history_without_its_reasoning_is_another(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    name = new_name("kept")
    first = Conversation().system(f"{name} is your file.").user("Name one colour.")
    thought = Assistant("Red.", reasoning="Red is short. I say red.")
    history = first.plus(thought).user("Another one?")
    answer = client.ask(driver, history, SHORT, keep=name)
    if not answer.ok:
        raise NotOffered(f"a history with reasoning is not answered: {answer.story}")
    true = history.plus(answer.reply.turn(reasoning=True)).user("A third?")
    arranged_used(client.ask(driver, true, SHORT, start=name), "the history with its reasoning")

    dropped = client.ask(driver, true.swap(2, Assistant("Red.")), SHORT, start=name)

    expect_unmatched("a history with the reasoning left out", dropped)


@requirement("FROM-12")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_the_replys_own_reasoning_counts(client: Client, driver: Driver, new_name: NewName) -> None:
    name = new_name("kept")
    history = fresh(name)
    answer = client.ask(driver, history, Options(max_tokens=64), keep=name)
    if not answer.reply.reasoning:
        raise NotOffered("the model's replies have no reasoning")
    true = history.plus(answer.reply.turn(reasoning=True)).user("A third?")
    arranged_used(client.ask(driver, true, SHORT, start=name), "the reply with its reasoning")

    dropped = history.plus(answer.reply.turn()).user("A third?")

    outcome = said(client.ask(driver, dropped, SHORT, start=name))
    expect_equal("X-Halogen-From with the reasoning left out", outcome, "unmatched")


@requirement("FROM-13")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_system_message_at_the_end_extends_the_history(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    arranged_cheap(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, long_history(name), SHORT, name)

    for turn in range(2):
        history = kept.then("And another one?").system(f"{90 - turn} words are left.")
        answer = client.ask(driver, history, SHORT, start=name, keep=name)
        if answer.status == 400:
            raise NotOffered("system messages in mid-conversation are refused")
        expect_equal(f"X-Halogen-From at turn {turn + 1}", said(answer), "used")
        expect_only_new(answer, kept, f"turn {turn + 1}")
        kept = type(kept)(name, history.plus(answer.reply.turn(reasoning=True)), answer)


@requirement("FROM-13")
def test_a_system_message_stays_at_its_place(client: Client, new_name: NewName) -> None:
    """The same texts, the later one moved to the front: another history."""
    name = new_name("kept")
    late = Conversation().system(f"{name}.").user("Name one colour.").system("Be brief.")
    answer = client.ask(CHAT, late, SHORT, keep=name)
    if not answer.ok:
        raise NotOffered(f"a late system message is not answered: {answer.story}")
    reply = answer.reply.turn(reasoning=True)
    true = late.plus(reply).user("And another one?")
    arranged_used(client.ask(CHAT, true, SHORT, start=name), "the history as it was kept")
    early = Conversation().system(f"{name}.").system("Be brief.").user("Name one colour.")

    moved = client.ask(CHAT, early.plus(reply).user("And another one?"), SHORT, start=name)

    expect_unmatched("a history with the message moved to the front", moved)
