"""AUTH: who is let in, and that keys stay secret."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Header, Options
from halogen_conformance.drivers.messages import MessagesDriver
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.schema import check_exchange
from halogen_conformance.suite.basics import arranged_forks
from halogen_conformance.suite.kept import SHORT, NewName, fresh, keep, said
from halogen_conformance.suite.listing import handles_of
from halogen_conformance.suite.marks import needs, requirement, x3
from halogen_conformance.target import Server
from halogen_conformance.target.target import Running

WRONG: dict[str, tuple[Header, ...]] = {
    "no key": (),
    "a wrong key": (("authorization", "Bearer not-the-key"),),
    "a wrong key in x-api-key": (("x-api-key", "not-the-key"),),
    "an empty one": (("authorization", "Bearer "),),
    "another scheme": (("authorization", "Basic c3VpdGU6a2V5"),),
}


def without_key(client: Client) -> Client:
    return replace(client, key=None)


def almost(client: Client) -> dict[str, tuple[Header, ...]]:
    """The right key with something more or less: a comparison of beginnings lets it in."""
    key = client.key or ""
    return {
        "the key and a letter": (("authorization", f"Bearer {key}x"),),
        "all of the key but its last": (("authorization", f"Bearer {key[:-1]}"),),
    }


@requirement("AUTH-1")
@needs("key")
@x3
def test_nobody_gets_in_without_the_key(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    kept = keep(client, driver, fresh(new_name("kept")), SHORT, new_name("kept"))
    bad = without_key(client)
    never = new_name("never")

    for what, headers in {**WRONG, **almost(client)}.items():
        # One tries to read a state, one to make a name, one to replace a live one.
        for name in (never, kept.name):
            answer = bad.ask(
                driver, kept.then("Next?"), options, start=kept.name, keep=name, headers=headers
            )
            expect_equal(f"status with {what}", answer.status, 401)
            expect(
                answer.reply.error is not None and not answer.problems,
                expected=f"an error in the shape of {driver.path}",
                actual=f"{answer.exchange.body[:300]!r} {[str(p) for p in answer.problems]}",
            )
    handles = handles_of(client)
    expect(not handles.has(never), expected=f"no {never} in the list", actual=handles.body)
    true = client.ask(driver, kept.then("Next?"), SHORT, start=kept.name)
    expect_equal("outcome with the key, afterwards", said(true), "used")


@requirement("AUTH-1")
@needs("key")
def test_the_list_and_the_counting_need_the_key(client: Client, new_name: NewName) -> None:
    name = new_name("secret")
    keep(client, CHAT, fresh(name), SHORT, name)
    bad, count = without_key(client), MessagesDriver().count_request(fresh(name))
    arranged(client.handles().status == 200, "the list is not answered with the key")
    arranged(client.send(count).status == 200, "a count is not answered with the key")

    for what, headers in {**WRONG, **almost(client)}.items():
        stranger = bad.with_headers(*headers)
        for path, exchange in (("the list", stranger.handles()), ("a count", stranger.send(count))):
            expect_equal(f"status of {path} with {what}", exchange.status, 401)
            shown = name.encode() in exchange.body
            expect(not shown, expected="no name in the refusal", actual=exchange.body[:300])
            problems = [str(problem) for problem in check_exchange(exchange)]
            expect_equal(f"problems in the shape of {path}'s error", problems, [])


@requirement("AUTH-2")
@needs("key")
@x3
def test_both_headers_are_read(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    name = new_name("both")
    bearer = replace(client, key_header="authorization")
    x_api_key = replace(client, key_header="x-api-key")
    history = fresh(name)

    answers = {
        "Authorization: Bearer": bearer.ask(driver, history, options),
        "x-api-key": x_api_key.ask(driver, history, options),
        "authorization: bearer": without_key(client).ask(
            driver, history, options, headers=(("authorization", f"bearer {client.key}"),)
        ),
    }
    lists = {"Bearer": bearer.handles().status, "x-api-key": x_api_key.handles().status}

    for how, answer in answers.items():
        expect(answer.ok, expected=f"an answer to a key in {how}", actual=answer.story)
    expect_equal("status of the list", lists, {"Bearer": 200, "x-api-key": 200})


@requirement("AUTH-3")
@needs("keys")
def test_every_key_of_several_opens_every_explicit_name(
    client: Client, server: Running, new_name: NewName
) -> None:
    keys: tuple[str, ...] = getattr(getattr(server, "settings", None), "keys", ())
    if len(keys) < 2:
        raise NotOffered("needs a server with two keys: give a command after --")
    name = new_name("shared")
    kept = keep(client, CHAT, fresh(name), SHORT, name)

    answer = replace(client, key=keys[1]).ask(CHAT, kept.then("And now?"), SHORT, start=name)

    expect_equal("outcome with the second key", said(answer), "used")


@requirement("AUTH-3")
@needs("map")
def test_without_keys_set_any_key_is_accepted(client: Client) -> None:
    for how in ("authorization", "x-api-key"):
        other = replace(client, key="anything-at-all", key_header=how)
        answer = other.ask(CHAT, fresh("any key"), SHORT)
        expect(answer.ok, expected=f"any key accepted in {how}", actual=answer.story)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@requirement("AUTH-4")
@needs("key")
def test_the_key_is_shown_to_nobody(
    client: Client, server: Running, new_name: NewName, stream: bool
) -> None:
    key = client.key or ""
    name = new_name("kept")
    good = client.ask(CHAT, fresh(name), Options(max_tokens=4, stream=stream), keep=name)
    wrong = replace(client, key=f"{key}-wrong").ask(CHAT, fresh(name), SHORT)
    listed = client.handles()
    arranged(good.ok, f"a request with the key was not answered: {good.story}")

    for what, exchange in {
        "an answer": good.exchange,
        "a refusal": wrong.exchange,
        "the list": listed,
    }.items():
        text = exchange.body.decode("utf-8", "replace") + str(exchange.headers)
        expect(key not in text, expected=f"no key in {what}", actual=text[:200])
    if isinstance(server, Server):
        log = server.log_path.read_text("utf-8", "replace")
        lines = [line for line in log.splitlines() if key in line]
        expect(not lines, expected="no key in the server's log", actual=f"{len(lines)} lines")
