"""SWITCH: sessions are off until they are asked for, and never in an ordinary client's way."""

from __future__ import annotations

from dataclasses import replace

from halogen_conformance.drivers import CHAT, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.recorder import Recorder
from halogen_conformance.repro import USE
from halogen_conformance.suite.kept import SHORT, NewName, fresh, keep
from halogen_conformance.suite.marks import needs, requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target import Server, Target
from halogen_conformance.target.settings import Declared


@requirement("SWITCH-1")
@needs("off")
@x3
def test_off_the_headers_change_nothing(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    name = new_name("kept")
    first = fresh(name)
    twin = ask_twin(client, driver, first, options)

    keeping = client.ask(driver, first, options, keep=name)
    expect_equal("status of a request with X-Halogen-Keep", keeping.status, twin.status)
    expect_twin(keeping, twin, declared, "with X-Halogen-Keep")

    # The two requests of a fork: were the name kept after all, this one would start from it.
    history = first.plus(keeping.reply.turn(reasoning=True)).user("And another one?")
    twin = ask_twin(client, driver, history, options)
    starting = client.ask(driver, history, options, start=name, keep=name)
    expect_equal("status of a request with X-Halogen-From", starting.status, twin.status)
    expect_twin(starting, twin, declared, "with X-Halogen-From")

    for answer in (keeping, starting):
        expect_equal("values of X-Halogen-From in the response", answer.outcomes, ())


@requirement("SWITCH-1")
@needs("off")
def test_the_switch_makes_the_difference(
    client: Client, target: Target, recorder: Recorder, new_name: NewName
) -> None:
    on = target.running("on")
    name = new_name("kept")
    kept = keep(client, CHAT, fresh(name), SHORT, name)
    off = client.ask(CHAT, kept.then("And another one?"), SHORT, start=name)

    if isinstance(on, Server):
        recorder.target(USE, on.settings.environment())
    there = replace(client, url=on.base_url, key=on.key)
    kept = keep(there, CHAT, fresh(name), SHORT, name)
    forked = there.ask(CHAT, kept.then("And another one?"), SHORT, start=name)

    # Only a server that has sessions when they are on shows that it can leave them off.
    arranged(len(forked.outcomes) > 0, f"no outcome with sessions on either: {forked.story}")
    expect_equal("values of X-Halogen-From with sessions off", off.outcomes, ())


@requirement("SWITCH-2")
@x3
def test_without_headers_there_is_no_outcome(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    name = new_name("kept")
    kept = keep(client, driver, fresh(name), options, name)
    history = kept.then("And another one?")
    # The same request with the header is answered by a server that knows it.
    forked = client.ask(driver, history, options, start=name)
    arranged(len(forked.outcomes) > 0, f"a request with X-Halogen-From has none: {forked.story}")

    plain = client.ask(driver, history, options)

    expect(plain.ok, expected="an ordinary answer", actual=plain.story)
    expect_equal("values of X-Halogen-From in the response", plain.outcomes, ())
    expect_equal("X-Halogen-From when something was only kept", kept.answer.outcomes, ())


@requirement("SWITCH-2")
@needs("off")
@x3
def test_without_headers_the_answer_is_that_of_a_server_with_sessions_off(
    client: Client,
    driver: Driver,
    options: Options,
    target: Target,
    recorder: Recorder,
    new_name: NewName,
    declared: Declared,
) -> None:
    name = new_name("kept")
    on = target.running("on")
    there = replace(client, url=on.base_url, key=on.key)
    # What is kept there must not show in what others are answered.
    kept = keep(there, driver, fresh(name), options, name)
    history = kept.then("And another one?")
    twin = ask_twin(client, driver, history, options)

    if isinstance(on, Server):
        recorder.target(USE, on.settings.environment())
    plain = there.ask(driver, history, options)

    expect_twin(plain, twin, declared)


@requirement("SWITCH-3")
@needs("off")
def test_off_there_is_no_list(client: Client) -> None:
    expect_equal("status of GET /halogen/handles", client.handles().status, 404)
