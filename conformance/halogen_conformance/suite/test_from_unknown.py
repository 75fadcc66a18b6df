"""FROM-5: names come and go, and a start from one that is gone is answered all the same."""

from __future__ import annotations

import time

from halogen_conformance.drivers import CHAT, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.recorder import Recorder
from halogen_conformance.suite.basics import arranged_forks, arranged_unknown
from halogen_conformance.suite.kept import SHORT, NewName, arranged_used, fresh, keep, said
from halogen_conformance.suite.marks import needs, requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared
from halogen_conformance.target.target import Running


@requirement("FROM-5")
@x3
def test_a_name_never_kept_is_unknown(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    name, never = new_name("kept"), new_name("never")
    kept = keep(client, driver, fresh(name), options, name)
    history = kept.then("And another one?")
    twin = ask_twin(client, driver, history, options)

    # The same request from the name that was kept: were all names unknown, `unknown` would say
    # nothing.
    known = client.ask(driver, history, options, start=name)
    arranged(said(known) != "unknown", f"a name that was kept is unknown: {known.story}")

    stranger = client.ask(driver, history, options, start=never)

    expect_equal("X-Halogen-From for a name never kept", said(stranger), "unknown")
    expect_twin(stranger, twin, declared)


@requirement("FROM-5")
@needs("ttl")
def test_a_name_that_has_expired_is_unknown(
    client: Client, server: Running, new_name: NewName, declared: Declared, recorder: Recorder
) -> None:
    ttl = server.ttl_s
    arranged(ttl is not None, "the target's TTL is not known")
    assert ttl is not None
    arranged_unknown(client, CHAT)
    name = new_name("expires")
    kept = keep(client, CHAT, fresh(name), SHORT, name)
    history = kept.then("And another one?")
    arranged_used(client.ask(CHAT, history, SHORT, start=name), "what was just kept")
    twin = ask_twin(client, CHAT, history, SHORT)

    # Nothing may touch the name before its time is over; one second more is for its clock.
    time.sleep(ttl + 1)
    handles = client.names()
    answer = client.ask(CHAT, history, SHORT, start=name)

    if handles is not None:
        live = said(answer) != "unknown"
        recorder.check(
            "LIST-1",
            handles.has(name) == live,
            expected=f"{name} {'in' if live else 'not in'} the list: {answer.story}",
            actual=str(handles.body),
        )
    expect_equal(f"X-Halogen-From {ttl + 1:g} s after the last use", said(answer), "unknown")
    expect_twin(answer, twin, declared)


@requirement("FROM-5")
@needs("cap")
def test_a_name_that_lost_its_place_is_unknown(
    client: Client, server: Running, new_name: NewName, declared: Declared
) -> None:
    cap = server.handles
    if cap is None or cap > 16:
        raise NotOffered(f"fills every place, so it needs a cap of 16 at most, not {cap}")
    arranged_forks(client, CHAT)
    kepts = []
    for number in range(cap + 1):
        name = new_name(f"place{number}")
        kepts.append(keep(client, CHAT, fresh(name), SHORT, name))
    gone = 0
    for kept in kepts:
        history = kept.then("And another one?")
        answer = client.ask(CHAT, history, SHORT, start=kept.name)
        # The history is the kept one, so the state is there or it is not.
        expect(
            said(answer) != "unmatched",
            expected=f"{kept.name} used or unknown, with its own history",
            actual=answer.story,
        )
        if said(answer) == "unknown":
            gone += 1
            expect_twin(answer, ask_twin(client, CHAT, history, SHORT), declared)
    # How many names may be live is LIFE-3's question.
    arranged(gone > 0, f"{cap + 1} names are live with a cap of {cap}")
