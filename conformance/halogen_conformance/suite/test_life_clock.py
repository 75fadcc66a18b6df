"""LIFE: the clock of a name (LIFE-1, LIFE-2), on a server with a short HALOGEN_FORK_TTL_S."""

from __future__ import annotations

import time
from functools import partial

import pytest

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers.client import Client, Leave, together
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import (
    arranged_forks,
    arranged_listed,
    arranged_rekeep,
    arranged_unknown,
)
from halogen_conformance.suite.kept import Kept, NewName, fresh, keep, said
from halogen_conformance.suite.listing import handles_of
from halogen_conformance.suite.marks import needs, requirement
from halogen_conformance.target.target import Running

TINY = Options(max_tokens=2)
MARGIN_S = 0.4
"""How much later than a name's time it is looked for: clocks tick, answers travel."""
TRIES = 3


class Ttl:
    """The life of unused names on this server, and a watch to measure it with."""

    def __init__(self, server: Running) -> None:
        assert server.ttl_s is not None
        self.seconds = server.ttl_s

    def wait(self, since: float, share: float = 1.0) -> None:
        """Wait until ``share`` of a life has passed since ``since``; of a whole one, a bit more."""
        margin = MARGIN_S if share >= 1 else 0.0
        time.sleep(max(0.0, since + share * self.seconds + margin - time.monotonic()))

    def over(self, since: float) -> bool:
        """Whether a name used before ``since`` may be gone by now."""
        return time.monotonic() >= since + self.seconds - MARGIN_S / 4


@pytest.fixture
def ttl(server: Running) -> Ttl:
    return Ttl(server)


def kept_now(client: Client, new_name: NewName, word: str) -> Kept:
    return keep(client, CHAT, fresh(new_name(word)), TINY, new_name(word))


_released: set[str] = set()
"""Servers (by address) on which an unused name was seen to go."""


def arranged_released(client: Client, ttl: Ttl, new_name: NewName) -> None:
    """Blocked unless a name that nothing happens to goes in time (LIFE-1)."""
    if client.url in _released:
        return
    idle = kept_now(client, new_name, "idle")
    ttl.wait(time.monotonic())
    gone = client.ask(CHAT, idle.then("And now?"), TINY, start=idle.name)
    listed = handles_of(client).has(idle.name)
    arranged(gone.outcome == "unknown", f"an unused name was not released: {gone.story}")
    arranged(not listed, "an unused name was not released: it is listed")
    _released.add(client.url)


@requirement("LIFE-1")
@needs("ttl")
def test_an_unused_name_is_released(client: Client, ttl: Ttl, new_name: NewName) -> None:
    arranged_unknown(client, CHAT)
    asked, listed = (kept_now(client, new_name, word) for word in ("asked", "listed"))
    since = time.monotonic()

    ttl.wait(since)
    # Asked for before anybody looks at the list, and looked for in the list.
    gone = client.ask(CHAT, asked.then("And another?"), TINY, start=asked.name)
    handles = handles_of(client)
    # The twin in all but age: names do live on this server.
    begun = time.monotonic()
    young = kept_now(client, new_name, "young")
    known = client.ask(CHAT, young.then("And another?"), TINY, start=young.name)

    if known.outcome != "used" and ttl.over(begun):
        raise _too_slow(ttl)
    arranged(known.outcome == "used", f"a name just kept is not used: {known.story}")
    expect(gone.ok, expected="an answer as usual", actual=gone.story)
    expect_equal(f"outcome {ttl.seconds:g} s after the last use", said(gone), "unknown")
    for name in (asked.name, listed.name):
        expect(not handles.has(name), expected=f"no {name} in the list", actual=handles.body)
    _released.add(client.url)


@requirement("LIFE-1")
@needs("ttl")
def test_a_name_lives_until_then(client: Client, ttl: Ttl, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    arranged_listed(client)
    for number in range(TRIES):
        since = time.monotonic()
        kept = kept_now(client, new_name, f"kept-{number}")
        ttl.wait(since, 0.6)
        handles = handles_of(client)
        late = ttl.over(since)
        answer = client.ask(CHAT, kept.then("And another?"), TINY, start=kept.name)
        if not late:
            break
    else:
        raise _too_slow(ttl)

    expect(handles.has(kept.name), expected=f"{kept.name} in the list", actual=handles.body)
    expect_equal(f"outcome after 0.6 of its {ttl.seconds:g} s", said(answer), "used")


@requirement("LIFE-2")
@needs("ttl")
def test_keeping_and_starting_restart_the_clock(
    client: Client, ttl: Ttl, new_name: NewName
) -> None:
    arranged_rekeep(client, CHAT)
    for number in range(TRIES):
        begun = time.monotonic()
        idle, again, used = together(
            *[
                partial(kept_now, client, new_name, f"{word}-{number}")
                for word in ("idle", "again", "used")
            ]
        )
        since = time.monotonic()
        ttl.wait(since, 0.55)
        touched = time.monotonic()
        again = keep(client, CHAT, again.then("Once more."), TINY, again.name)
        start = client.ask(CHAT, used.then("And another?"), TINY, start=used.name)
        if start.outcome != "used" and ttl.over(begun):
            continue
        arranged(start.outcome == "used", f"a name just kept is not used: {start.story}")
        ttl.wait(since)
        answers = {
            what: client.ask(CHAT, kept.then("And now?"), TINY, start=kept.name)
            for what, kept in (("keeping it again", again), ("a start from it", used))
        }
        if not ttl.over(touched):
            break
    else:
        raise _too_slow(ttl)
    control = client.ask(CHAT, idle.then("And now?"), TINY, start=idle.name)

    arranged(control.outcome == "unknown", f"an unused name was not released: {control.story}")
    for what, answer in answers.items():
        expect_equal(f"outcome within {ttl.seconds:g} s after {what}", said(answer), "used")


@requirement("LIFE-2")
@needs("ttl")
def test_listing_does_not_restart_the_clock(client: Client, ttl: Ttl, new_name: NewName) -> None:
    arranged_released(client, ttl, new_name)
    polled = kept_now(client, new_name, "polled")
    since = time.monotonic()

    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        ttl.wait(since, share)
        handles = handles_of(client)
    answer = client.ask(CHAT, polled.then("And now?"), TINY, start=polled.name)

    expect_equal("outcome of a name that was only listed", said(answer), "unknown")
    expect(
        not handles.has(polled.name),
        expected=f"no {polled.name} in the list, {ttl.seconds:g} s after its last use",
        actual=handles.body,
    )


@requirement("LIFE-2")
@needs("ttl")
def test_the_clock_runs_from_the_end_of_the_use(
    client: Client, ttl: Ttl, new_name: NewName
) -> None:
    arranged_forks(client, CHAT)
    arranged_listed(client)
    begun, name = _long_use(client, ttl, new_name)
    ended = time.monotonic()

    ttl.wait(begun)
    handles = handles_of(client)
    if ttl.over(ended):
        raise _too_slow(ttl)

    expect(
        handles.has(name),
        expected=f"{name} in the list, {ttl.seconds:g} s after the use began, not ended",
        actual=handles.body,
    )


def _long_use(client: Client, ttl: Ttl, new_name: NewName) -> tuple[float, str]:
    """Start a reply that goes on for most of a life and leave it then: the end of that use.

    Returns when it began, and the name. Raises NotOffered when no reply lasts that long.
    """
    count, endless = "1, 2, 3, 4, 5, 6, 7, 8,", Options(max_tokens=None, stream=True)
    kept = kept_now(client, new_name, "asked")
    name = new_name("begun")
    begun = fresh(name).branch(count)
    grown = client.ask(CHAT, begun, Options(max_tokens=1), keep=name)
    ways = {
        kept.name: kept.then(f"Go on counting for as long as you can: {count}"),
        # A reply that has begun to count is the likelier to go on with it.
        name: fresh(name).branch(count + grown.reply.text),
    }
    for start, history in ways.items():
        since = time.monotonic()
        leave = Leave(after_s=0.8 * ttl.seconds)
        answer = client.ask(CHAT, history, endless, start=start, leave=leave)
        if answer.outcome == "used" and time.monotonic() - since > 0.7 * ttl.seconds:
            return since, start
    raise NotOffered("replies of this server end too soon for a use of nearly a whole life")


def _too_slow(ttl: Ttl) -> NotOffered:
    return NotOffered(
        f"answers take too long to look at a name within its {ttl.seconds:g} s: say --slow S, "
        "or give a server with a longer HALOGEN_FORK_TTL_S"
    )
