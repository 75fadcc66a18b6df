"""KEEP-5: clients leave in the middle of a reply; nothing is kept of it and nobody else notices."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client, Leave, together
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.exchange import Ending
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_forks, arranged_unknown
from halogen_conformance.suite.kept import SHORT, NewName, arranged_used, fresh, keep, said
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.twin import expect_twin
from halogen_conformance.target.settings import Declared

COUNT = "1, 2, 3, 4, 5, 6, 7, 8,"
LONG_ENOUGH_S = 0.15
"""A reply that takes less is over before a server can have noticed that its client has left."""


def long_reply(client: Client, driver: Driver, name: str) -> tuple[Conversation, Options, Answer]:
    """A question whose reply streams for long enough to leave it, and that reply in full."""
    # A count that was begun is what models go on with for longest.
    history = fresh(name).cut(1).user("Count to a million.").branch(COUNT)
    for limit in (32, 256, 2000, 6000):
        options = Options(max_tokens=limit, stream=True)
        whole = client.ask(driver, history, options)
        arranged(whole.ok, f"the request was not answered: {whole.story}")
        events = whole.exchange.events
        if len(events) > 8 and events[-1].seconds - events[3].seconds > LONG_ENOUGH_S:
            return history, options, whole
    raise NotOffered("its replies are too short or too fast to be left in the middle")


@requirement("KEEP-5")
@pytest.mark.parametrize("streaming", [True], ids=["stream"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_reply_that_was_left_is_not_kept(
    client: Client, driver: Driver, streaming: bool, new_name: NewName
) -> None:
    arranged_unknown(client, driver)
    arranged_forks(client, driver)
    name, never = new_name("live"), new_name("never")
    story, options, whole = long_reply(client, driver, new_name("story"))
    kept = keep(client, driver, fresh(name), SHORT, name)
    history = kept.then("And another one?")
    arranged_used(client.ask(driver, history, SHORT, start=name), "what was kept")

    leaves = [
        client.ask(driver, story, options, keep=target, leave=Leave(after=3))
        for target in (name, never)
    ]
    for left in leaves:
        arranged(left.exchange.ending is Ending.LEFT, f"the reply was not left: {left.story}")
    # The same reply to its end is the clock: had those two been generated on, they would be
    # complete by now, too.
    client.ask(driver, story, options)

    again = client.ask(driver, history, SHORT, start=name)
    expect_equal("X-Halogen-From for the state the name had before", said(again), "used")
    told = story.cut(2).assistant(COUNT + whole.reply.text).user("And then?")
    stranger = client.ask(driver, told, SHORT, start=never)
    expect_equal("X-Halogen-From for the name of the left reply", said(stranger), "unknown")


@requirement("KEEP-5")
def test_other_streams_do_not_notice(client: Client, new_name: NewName, declared: Declared) -> None:
    story, options, whole = long_reply(client, CHAT, new_name("story"))

    stayed, left, *_ = together(
        lambda: client.ask(CHAT, story, options),
        lambda: client.ask(CHAT, story, options, leave=Leave(after=3)),
        lambda: client.ask(CHAT, story, options, keep=new_name("left"), leave=Leave(after=2)),
    )

    arranged(left.exchange.ending is Ending.LEFT, f"the reply was not left: {left.story}")
    expect(stayed.ok, expected="the other stream complete", actual=stayed.story)
    expect_twin(stayed, whole, declared, "while others leave")
