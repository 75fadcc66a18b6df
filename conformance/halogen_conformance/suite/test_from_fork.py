"""FROM-3: starting from a name only reads it, however many do so."""

from __future__ import annotations

from functools import partial

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client, together
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import expect, expect_equal
from halogen_conformance.suite.basics import arranged_difference, arranged_join, arranged_twins
from halogen_conformance.suite.kept import SHORT, Kept, NewName, fresh, keep, long_history, said
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

PARTS = (
    "Do part A.",
    "Do part B, and say which of the rules it touches.",
    "Do part C.",
    "Leave the parts alone and name a colour instead.",
    "Do part E in one word.",
    "What comes after part F?",
    "Do part G slowly.",
    "Do nothing.",
)


@requirement("FROM-3")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_forks_in_a_row_are_all_used_and_leave_the_parent_as_it_was(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, forks=1)
    parent = new_name("parent")
    kept = keep(client, driver, fresh(parent), SHORT, parent)
    parts = PARTS[:3]
    twins = [ask_twin(client, driver, kept.then(part), SHORT) for part in parts]

    forks = [client.ask(driver, kept.then(part), SHORT, start=parent) for part in parts]

    for number, (fork, twin) in enumerate(zip(forks, twins, strict=True), start=1):
        expect_equal(f"X-Halogen-From of fork {number}", said(fork), "used")
        # Were a sibling's text in the state, prompt and reply would not be the twin's.
        expect_twin(fork, twin, declared, f"for fork {number}")
    again = client.ask(driver, kept.then(parts[0]), SHORT, start=parent)
    expect_equal("X-Halogen-From for the parent after its forks", said(again), "used")
    expect_twin(again, twins[0], declared, "for the parent after its forks")


@requirement("FROM-3")
@pytest.mark.parametrize("streaming", [False, True], ids=["", "stream"])
def test_eight_at_once_are_all_used(
    client: Client, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, CHAT, declared, options, forks=1)
    parent = new_name("parent")
    kept = keep(client, CHAT, long_history(parent), SHORT, parent)
    twins = [ask_twin(client, CHAT, kept.then(part), options) for part in PARTS[:2]]

    forks = together(
        *(partial(client.ask, CHAT, kept.then(part), options, start=parent) for part in PARTS)
    )

    outcomes = [said(fork) for fork in forks]
    expect(
        outcomes == ["used"] * len(PARTS),
        expected="all eight used",
        actual=[fork.story for fork in forks],
    )
    for fork, twin in zip(forks, twins, strict=False):
        expect_twin(fork, twin, declared, "for a fork among eight")
    again = client.ask(CHAT, kept.then(PARTS[1]), options, start=parent)
    expect_equal("X-Halogen-From for the parent after its forks", said(again), "used")
    expect_twin(again, twins[1], declared, "for the parent after its forks")


@requirement("FROM-3")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_fork_that_was_kept_is_its_own(client: Client, driver: Driver, new_name: NewName) -> None:
    """Two forks with names: each serves its own history and not its sibling's."""
    arranged_join(client, driver)
    arranged_difference(client, driver)
    parent = new_name("parent")
    kept = keep(client, driver, fresh(parent), SHORT, parent)
    left, right = (
        keep(client, driver, kept.then(part), SHORT, new_name(f"worker{number}"), start=parent)
        for number, part in enumerate(PARTS[:2])
    )

    def go_on(whose: Kept, name: str) -> str:
        return said(client.ask(driver, whose.then("Go on."), SHORT, start=name))

    seen = {
        (whose.name, start.name): go_on(whose, start.name) == "used"
        for whose in (left, right)
        for start in (left, right)
    }

    expected = {
        (left.name, left.name): True,
        (right.name, right.name): True,
        (left.name, right.name): False,
        (right.name, left.name): False,
    }
    expect_equal("whether it is used, for (history of, started from)", seen, expected)
