"""FROM-10: one conversation, whichever route a client speaks."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.outcomes import expect_equal
from halogen_conformance.suite.basics import arranged_difference, arranged_forks, arranged_twins
from halogen_conformance.suite.kept import (
    SHORT,
    NewName,
    arranged_used,
    expect_unmatched,
    keep,
    said,
)
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.test_from_edited import three_turns
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared


@requirement("FROM-10")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_name_kept_through_one_route_is_used_through_the_others(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared)
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, three_turns(name), SHORT, name)
    history = kept.then("And a letter?")
    arranged_used(client.ask(driver, history, SHORT, start=name), "the route it was kept through")

    for label, other in DRIVERS.items():
        if label == driver.route:
            continue
        answer = client.ask(other, history, SHORT, start=name)
        expect_equal(f"X-Halogen-From through {label}", said(answer), "used")
        twin = ask_twin(client, other, history, SHORT)
        expect_twin(answer, twin, declared, f"through {label}")


@requirement("FROM-10")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_another_route_sees_a_difference_as_well(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    arranged_difference(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, three_turns(name), SHORT, name)
    edited = kept.history.swap(1, three_turns("").user("Name one shape.").turns[4]).user("Go on.")

    for label, other in DRIVERS.items():
        answer = client.ask(other, edited, SHORT, start=name)
        expect_unmatched(f"an edited history through {label}", answer)
