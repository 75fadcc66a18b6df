"""LIFE: how many names live at once (LIFE-3), and which (LIFE-4, LIFE-5)."""

from __future__ import annotations

import threading
import time
from functools import partial

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client, together
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_forks, arranged_listed, arranged_unknown
from halogen_conformance.suite.claude_code import Thread
from halogen_conformance.suite.kept import Kept, NewName, fresh, keep, said
from halogen_conformance.suite.listing import handles_of, listed_names
from halogen_conformance.suite.marks import needs, requirement
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared
from halogen_conformance.target.target import Running

TINY = Options(max_tokens=2)
AT_ONCE = 8


def cap_of(server: Running) -> int:
    assert server.handles is not None
    return server.handles


def start_from(client: Client, kept: Kept, driver: Driver = CHAT) -> str:
    """The outcome of a start from a kept state, in the words of the header."""
    answer = client.ask(driver, kept.then("And another?"), TINY, start=kept.name)
    arranged(answer.ok, f"a request from {kept.name} was not answered: {answer.story}")
    return said(answer)


def fill(client: Client, new_name: NewName, number: int) -> list[Kept]:
    """Keep so many new names, one after the other."""
    words = [f"name-{count}" for count in range(number)]
    return [keep(client, CHAT, fresh(new_name(w)), TINY, new_name(w)) for w in words]


def check_the_cap(client: Client, server: Running, new_name: NewName) -> None:
    cap = cap_of(server)
    kept: list[Kept] = []
    for number in range(cap + 3):
        kept.append(keep(client, CHAT, fresh(new_name(f"n-{number}")), TINY, new_name(f"{number}")))
        listed = len(listed_names(client))
        expect(listed <= cap, expected=f"at most {cap} names listed", actual=f"{listed} names")

    # The list could be shorter than the truth: what can be started from is live.
    used = [one.name for one in kept if start_from(client, one) == "used"]

    expect(len(used) <= cap, expected=f"at most {cap} names used", actual=f"{len(used)}: {used}")
    arranged(bool(used), "of all the names that were kept none is used")


@requirement("LIFE-3")
@needs("cap")
def test_never_more_names_than_the_cap(client: Client, server: Running, new_name: NewName) -> None:
    check_the_cap(client, server, new_name)


@requirement("LIFE-3")
@needs("default")
def test_eight_names_where_nothing_is_set(
    client: Client, server: Running, new_name: NewName
) -> None:
    check_the_cap(client, server, new_name)


@requirement("LIFE-3")
@needs("cap")
def test_never_more_under_traffic(client: Client, server: Running, new_name: NewName) -> None:
    cap, done, counts = cap_of(server), threading.Event(), [0]

    def watch() -> None:
        while not done.is_set():
            counts.append(len(listed_names(client)))

    def traffic(number: int) -> None:
        for step in range(3):
            name, driver = new_name(f"{number}-{step}"), list(DRIVERS.values())[number % 3]
            kept = keep(client, driver, fresh(name), TINY, name)
            grown = kept.then("More.")
            client.ask(driver, grown, TINY, start=name, keep=new_name(f"{number}-{step}-b"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        together(*[partial(traffic, number) for number in range(AT_ONCE)])
    finally:
        done.set()
        watcher.join()

    arranged(len(counts) > 2, "the list was not answered while requests ran")
    expect(max(counts) <= cap, expected=f"at most {cap} names at any moment", actual=max(counts))


@requirement("LIFE-3")
@needs("map-cap")
def test_never_more_with_mapped_threads(main: Thread, server: Running) -> None:
    cap = cap_of(server)
    main.ask("First question.")
    for number in range(cap + 2):
        main.subagent(f"a-{number}").ask("Begin.")
        listed = len(listed_names(main.client))
        expect(listed <= cap, expected=f"at most {cap} names listed", actual=f"{listed} names")


def arranged_story(client: Client) -> None:
    """The words that tell the story mean what they say."""
    arranged_forks(client, CHAT)
    arranged_unknown(client, CHAT)
    arranged_listed(client)


def expect_one_story(client: Client, server: Running, kept: list[Kept], since: float) -> None:
    """Each name is either listed and used, or not listed and unknown. ``since``: the first keep."""
    listed = listed_names(client)
    for one in kept:
        wanted = "used" if one.name in listed else "unknown"
        place = "listed" if one.name in listed else "not listed"
        outcome = start_from(client, one)
        if server.ttl_s is not None and time.monotonic() - since > 0.9 * server.ttl_s:
            raise NotOffered(f"names live for {server.ttl_s:g} s only: too short to look at all")
        expect_equal(f"outcome of {one.name}, which is {place}", outcome, wanted)
    gone = [one.name for one in kept if one.name not in listed]
    arranged(bool(gone), "no name lost its place, although more were kept than the cap allows")


@requirement("LIFE-4")
@needs("cap")
def test_a_keep_that_meets_the_cap(
    client: Client, server: Running, new_name: NewName, declared: Declared
) -> None:
    arranged_story(client)
    # More than the cap allows, whatever lives there already: most of these keeps meet it.
    names = [new_name(f"name-{number}") for number in range(cap_of(server) + 2)]
    kept, since = [], time.monotonic()
    for name in names:
        history = fresh(name)
        twin = ask_twin(client, CHAT, history, TINY)
        answer = client.ask(CHAT, history, TINY, keep=name)
        expect_twin(answer, twin, declared, "to a keep that meets the cap")
        kept.append(Kept(name, history.plus(answer.reply.turn()), answer))

    expect_one_story(client, server, kept, since)


@requirement("LIFE-4")
@needs("cap")
def test_keeps_that_meet_the_cap_at_once(
    client: Client, server: Running, new_name: NewName
) -> None:
    arranged_story(client)
    cap = cap_of(server)
    if cap > 16:
        raise NotOffered(f"fills every place at once, so it needs a cap of 16 at most, not {cap}")
    names = [new_name(f"race-{number}") for number in range(max(AT_ONCE, cap + 2))]
    for _ in range(3):
        tasks = [partial(keep, client, CHAT, fresh(name), TINY, name) for name in names]
        since = time.monotonic()
        kept = together(*tasks)

        expect_one_story(client, server, kept, since)


@requirement("LIFE-5")
@needs("cap")
def test_the_least_recently_used_name_makes_room(
    client: Client, server: Running, new_name: NewName
) -> None:
    oldest, second, *others = fill(client, new_name, cap_of(server))
    arranged(start_from(client, oldest) == "used", "a name just kept is not used")

    keep(client, CHAT, fresh(new_name("late")), TINY, new_name("late"))
    handles = handles_of(client)

    for one in (oldest, *others):
        expect(handles.has(one.name), expected=f"{one.name} in the list", actual=handles.body)
    expect(
        not handles.has(second.name),
        expected=f"{second.name}, used longest ago, to have made room",
        actual=handles.body,
    )
