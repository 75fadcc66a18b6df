"""Many at once: forks of one name (FROM-3), races on one name (KEEP-6), clients that leave."""

from __future__ import annotations

import random
from functools import partial

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client, Leave, together
from halogen_conformance.drivers.driver import Options
from halogen_conformance.order import Order
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.basics import (
    arranged_cheap,
    arranged_difference,
    arranged_rekeep,
    arranged_twins,
)
from halogen_conformance.suite.cost import expect_only_new
from halogen_conformance.suite.kept import SHORT, Kept, NewName, fresh, keep, long_history, said
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

FORKS = 8
ROUNDS = 20
TINY = Options(max_tokens=2)


@requirement("FROM-3")
def test_eight_forks_at_once_twenty_times(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, CHAT, declared, forks=1)
    arranged_cheap(client, CHAT)
    name = new_name("parent")
    kept = keep(client, CHAT, long_history(name), SHORT, name)
    questions = [kept.then(f"Part {number}?") for number in range(FORKS)]
    twins = [ask_twin(client, CHAT, history, TINY) for history in questions]

    for number in range(ROUNDS):
        answers = together(
            *[partial(client.ask, CHAT, history, TINY, start=name) for history in questions]
        )

        for worker, (answer, twin) in enumerate(zip(answers, twins, strict=True)):
            where = f"fork {worker} of round {number}"
            expect_equal(f"X-Halogen-From for {where}", said(answer), "used")
            expect_twin(answer, twin, declared, f"to {where}")
            expect_only_new(answer, kept, where)


@requirement("FROM-3")
def test_forks_of_two_parents_never_mix(
    client: Client, new_name: NewName, declared: Declared, order: Order
) -> None:
    arranged_twins(client, CHAT, declared, forks=1)
    arranged_difference(client, CHAT)
    # The same long beginning: a server that matches by likeness takes one for the other.
    chance = random.Random(order.seed)
    head = long_history(new_name("shared")).cut(1)
    secrets = ("plum", "fig")
    kept = {
        word: keep(client, CHAT, head.user(f"The word is {word}."), SHORT, new_name(word))
        for word in secrets
    }
    histories = {word: kept[word].then("Which word is it?") for word in secrets}
    twins = {word: ask_twin(client, CHAT, histories[word], TINY) for word in secrets}

    for _ in range(4):
        # Half of them start from their own parent, some from the other's, some from nothing.
        plan = [
            (chance.choice(secrets), chance.choice(["own", "own", "other", "none"]))
            for _ in range(FORKS)
        ]
        starts: dict[str, dict[str, str | None]] = {"none": dict.fromkeys(secrets)}
        starts["own"] = {word: kept[word].name for word in secrets}
        starts["other"] = {"plum": kept["fig"].name, "fig": kept["plum"].name}
        answers = together(
            *[
                partial(client.ask, CHAT, histories[word], TINY, start=starts[kind][word])
                for word, kind in plan
            ]
        )

        wanted = {"own": "used", "other": "unmatched", "none": None}
        for (word, kind), answer in zip(plan, answers, strict=True):
            where = f"with the history of {word} and the start {kind}"
            if kind == "own":
                expect_equal(f"X-Halogen-From {where}", said(answer), wanted[kind])
            elif answer.outcome != wanted[kind]:
                arranged(False, f"the outcome {where} is {answer.outcome}")
            expect_twin(answer, twins[word], declared, where)


@requirement("KEEP-6")
def test_four_keeps_of_one_name_at_once(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    name, drivers = new_name("raced"), [*DRIVERS.values(), CHAT]
    for driver in DRIVERS.values():
        _arranged_for_races(client, driver, declared)
    for number in range(3):
        histories = [fresh(f"{name}-{number}-{lane}") for lane in range(len(drivers))]
        kept: list[Kept] = together(
            *[
                partial(keep, client, driver, history, SHORT, name)
                for driver, history in zip(drivers, histories, strict=True)
            ]
        )

        _expect_one_whole(client, drivers, kept, declared)


@requirement("KEEP-6")
def test_keeps_and_starts_of_one_name_at_once(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    _arranged_for_races(client, CHAT, declared)
    name = new_name("moving")
    old = keep(client, CHAT, fresh(name), SHORT, name)
    # Else `unknown` below might be said of a name that is there.
    other = client.ask(CHAT, fresh(f"{name}-other"), TINY, start=name)
    arranged(said(other) == "unmatched", f"another history is not unmatched: {other.story}")
    twin = ask_twin(client, CHAT, old.then("And?"), TINY)
    for number in range(4):
        replacement = fresh(f"{name}-{number}")
        tasks = [partial(client.ask, CHAT, replacement, SHORT, keep=name)]
        tasks += [partial(client.ask, CHAT, old.then("And?"), TINY, start=name) for _ in range(5)]

        first, *starts = together(*tasks)

        arranged(first.ok, f"a request that keeps a name was not answered: {first.story}")
        for answer in starts:
            # Before the replacement or after it, never a mixture of both.
            expect(
                said(answer) in ("used", "unmatched"),
                expected="the old state, or the new one",
                actual=answer.story,
            )
            expect_twin(answer, twin, declared, f"(outcome {answer.outcome})")
        new = Kept(name, replacement.plus(first.reply.turn()), first)
        _expect_one_whole(client, [CHAT], [new], declared)
        old = new
        twin = ask_twin(client, CHAT, old.then("And?"), TINY)


def _arranged_for_races(client: Client, driver: Driver, declared: Declared) -> None:
    """What keeps of one name must do one after the other, before they do it at once."""
    arranged_twins(client, driver, declared)
    arranged_difference(client, driver)
    arranged_rekeep(client, driver)


def _expect_one_whole(
    client: Client, drivers: list[Driver], kept: list[Kept], declared: Declared
) -> None:
    """Of states kept under one name exactly one is there, and it is whole."""
    outcomes = []
    for driver, one in zip(drivers, kept, strict=True):
        history = one.then("What now?")
        answer = client.ask(driver, history, TINY, start=one.name)
        expect_twin(answer, ask_twin(client, driver, history, TINY), declared)
        outcomes.append(said(answer))
    expect_equal("states that are used", outcomes.count("used"), 1)


@pytest.mark.parametrize("route", DRIVERS)
@requirement("KEEP-5")
def test_clients_that_leave_harm_nobody(
    client: Client, driver: Driver, new_name: NewName, declared: Declared, order: Order
) -> None:
    chance = random.Random(order.seed)
    name, streamed = new_name("plan"), Options(max_tokens=24, stream=True)
    arranged_twins(client, driver, declared, streamed)
    kept = keep(client, driver, long_history(name), SHORT, name)
    stays = kept.then("Go on: 1, 2, 3,")
    twin = ask_twin(client, driver, stays, streamed)

    def leaves(stream: bool, when: int) -> Answer:
        # While the prompt is read, while the reply is written, before anything was answered.
        history = long_history(new_name(f"{when}-{chance.random()}"))
        leave = Leave(after=when) if stream else Leave(after_s=0.01)
        options = Options(max_tokens=64, stream=stream)
        return client.ask(driver, history, options, keep=new_name("left"), leave=leave)

    # All twenty on one route; on the others five, what notices them is seldom each route's own.
    for number in range(4 if driver is CHAT else 1):
        beside, *_ = together(
            partial(client.ask, driver, stays, streamed, start=name),
            *[partial(leaves, number % 2 == 0, chance.choice([-1, 0, 1, 3])) for _ in range(5)],
        )
        expect_twin(beside, twin, declared, "beside clients that leave")

    answer = client.ask(driver, stays, streamed, start=name)
    expect_twin(answer, twin, declared, "after all that left")
