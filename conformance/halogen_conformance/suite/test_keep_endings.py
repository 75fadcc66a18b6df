"""KEEP-2: a kept state ends exactly where its reply ends, however the reply came to its end.

A mark that is missing there, or there twice, shows in the size of the next prompt and, where texts
may be compared, in its reply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, MESSAGES, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.reply import Finish
from halogen_conformance.outcomes import NotOffered, expect_equal
from halogen_conformance.suite.basics import arranged_forks, arranged_twins
from halogen_conformance.suite.kept import SHORT, Kept, NewName, fresh, keep, said
from halogen_conformance.suite.marks import requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

Arrange = Callable[[Client, Driver, str], Kept]


def at_the_limit(client: Client, driver: Driver, name: str) -> Kept:
    """A reply that its token limit cuts: one token is less than any model wants to say."""
    for limit in (3, 1):
        kept = keep(
            client, driver, fresh(f"{name}-{limit}"), Options(max_tokens=limit), f"{name}-{limit}"
        )
        if kept.answer.reply.finish is Finish.LENGTH:
            return kept
    raise NotOffered("no reply was cut by its token limit")


TALKS = (
    (32, "Say hello."),
    (32, "Yes or no: is water wet? One word."),
    (96, "What is two and two?"),
    (192, "Name a fruit."),
)


def at_its_own_end(client: Client, driver: Driver, name: str) -> Kept:
    """A reply that ends by itself. What makes a model stop is its own business: several tries."""
    for number, (limit, text) in enumerate(TALKS):
        history = fresh(f"{name}-{number}").cut(1).user(text)
        kept = keep(client, driver, history, Options(max_tokens=limit), f"{name}-{number}")
        if kept.answer.reply.finish is Finish.END:
            return kept
    raise NotOffered("no reply came to its own end within 192 tokens")


def _with_stop(client: Client, driver: Driver, name: str, stop_at: float) -> Kept:
    """A reply ended by a string that an earlier answer to the same question has at this place."""
    for number in range(4):
        history = fresh(f"{name}-{number}")
        seen = ask_twin(client, driver, history, SHORT).reply.text
        begin = len(seen) - len(seen.lstrip())
        at = max(begin, int(stop_at * len(seen)))
        stop = seen[at : at + 2] if seen[at : at + 2].strip() else seen[at : at + 4]
        if not stop.strip() or (stop_at and seen.find(stop) < 1):
            continue
        if not stop_at:
            stop = seen[: begin + 1]  # blanks before the first word are a part of the reply
        kept = keep(client, driver, history, replace(SHORT, stop=(stop,)), f"{name}-{number}")
        text = kept.reply
        if stop not in text and text == seen[: seen.index(stop)]:
            return kept
    raise NotOffered("no reply could be made to end by a stop string")


def at_a_stop_string(client: Client, driver: Driver, name: str) -> Kept:
    return _with_stop(client, driver, name, 0.5)


def with_nothing_said(client: Client, driver: Driver, name: str) -> Kept:
    """An empty reply: a stop string is the first it would say."""
    return _with_stop(client, driver, name, 0.0)


ENDINGS: dict[str, tuple[Arrange, tuple[str, ...]]] = {
    "limit": (at_the_limit, tuple(DRIVERS)),
    "end": (at_its_own_end, tuple(DRIVERS)),
    # Responses has no stop strings in its public API.
    "stop": (at_a_stop_string, (CHAT.route, MESSAGES.route)),
    "empty": (with_nothing_said, (CHAT.route, MESSAGES.route)),
}


@pytest.mark.parametrize(
    ("ending", "route"),
    [(ending, route) for ending, (_, routes) in ENDINGS.items() for route in routes],
)
@requirement("KEEP-2")
def test_a_reply_can_be_continued_however_it_ended(
    client: Client, driver: Driver, ending: str, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared)
    arranged_forks(client, driver)
    name = new_name("ending")
    arrange, _ = ENDINGS[ending]
    kept = arrange(client, driver, name)
    history = kept.then("And another one?")
    twin = ask_twin(client, driver, history, SHORT)

    again = client.ask(driver, history, SHORT, start=kept.name)

    expect_equal("X-Halogen-From for the kept history", said(again), "used")
    expect_twin(again, twin, declared)


@requirement("KEEP-2")
@x3
def test_a_conversation_of_many_turns_stays_its_twin(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    """A mark missing after one reply is easily overlooked; after some turns it has added up."""
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    name = new_name("turns")
    short = replace(options, max_tokens=6)
    kept = keep(client, driver, fresh(name), short, name)
    for turn in range(3):
        history = kept.then(f"And number {turn + 2}?")
        kept = keep(client, driver, history, short, new_name(f"turn{turn}"), start=kept.name)
        expect_equal(f"X-Halogen-From at turn {turn + 2}", said(kept.answer), "used")
    twin = ask_twin(client, driver, history, short)
    expect_twin(kept.answer, twin, declared, "at the last turn")
