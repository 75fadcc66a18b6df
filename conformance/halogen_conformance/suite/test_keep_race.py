"""KEEP-6: two requests keep one name at once, and one of them wins whole."""

from __future__ import annotations

from functools import partial

import pytest

from halogen_conformance.drivers import DRIVERS, Driver
from halogen_conformance.drivers.client import Client, together
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_difference, arranged_forks, arranged_twins
from halogen_conformance.suite.kept import SHORT, NewName, fresh, said
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

ROUNDS = 2


@requirement("KEEP-6")
@pytest.mark.parametrize("streaming", [False, True], ids=["", "stream"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_of_two_that_keep_one_name_one_is_kept_whole(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    arranged_difference(client, driver)
    for number in range(ROUNDS if driver.route == "chat" else 1):
        name = new_name(f"race{number}")
        # Of different length, so that they end in either order.
        red = fresh(f"{name}-red")
        blue = fresh(f"{name}-blue").user("And one more.", "And its opposite.")
        answers = together(
            *(partial(client.ask, driver, one, options, keep=name) for one in (red, blue))
        )
        for answer in answers:
            arranged(answer.ok, f"a request that keeps a name was not answered: {answer.story}")

        histories: list[Conversation] = [
            history.plus(answer.reply.turn(reasoning=True)).user("And another one?")
            for history, answer in zip((red, blue), answers, strict=True)
        ]
        starts = [client.ask(driver, history, SHORT, start=name) for history in histories]

        used = sorted(said(start) == "used" for start in starts)
        expect_equal("which of the two histories are used", used, [False, True])
        for history, start in zip(histories, starts, strict=True):
            if start.outcome == "used":
                expect_twin(start, ask_twin(client, driver, history, SHORT), declared)
        handles = client.names()
        if handles is not None and handles.names is not None:
            once = handles.names.count(name) <= 1
            expect(once, expected="no second entry of the name in the list", actual=handles.body)
