"""KEEP-4: a request that is refused keeps nothing and costs no name its state."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.driver import Request, session_headers
from halogen_conformance.outcomes import NotOffered, expect, expect_equal
from halogen_conformance.suite.basics import arranged_forks, arranged_unknown
from halogen_conformance.suite.kept import SHORT, Kept, NewName, arranged_used, fresh, keep, said
from halogen_conformance.suite.marks import requirement

Body = dict[str, Json]


def _history_key(body: Body) -> str:
    return "input" if "input" in body else "messages"


BAD: dict[str, Callable[[Body], Json]] = {
    "not JSON": lambda body: b'{"model": "default", "messages": [',
    "no object": lambda body: [body],
    "no history": lambda body: {k: v for k, v in body.items() if k != _history_key(body)},
    "a history that is a number": lambda body: body | {_history_key(body): 7},
    "a message that is a number": lambda body: body | {_history_key(body): [7]},
    "a temperature in words": lambda body: body | {"temperature": "hot"},
}
"""What no server can answer, made from a good body. One that answers some of it all the same is
judged elsewhere: here only its refusals count."""


def refused(
    client: Client, driver: Driver, kept: Kept, *, keep_name: str, start: str | None, stream: bool
) -> list[str]:
    """Send every bad request with these headers; says which of them were refused."""
    good = driver.request(kept.then("And another one?"), SHORT).body | {"stream": stream}
    found = []
    for what, spoil in BAD.items():
        request = Request(
            "POST", driver.path, body=spoil(good), route=driver.route, deliberately_bad=True
        )
        exchange = client.send(request.plus(*session_headers(keep_name, start)))
        if exchange.status is not None and exchange.status >= 400:
            found.append(what)
    if not found:
        raise NotOffered("this server refuses none of the requests that cannot be answered")
    return found


@requirement("KEEP-4")
@pytest.mark.parametrize("streaming", [False, True], ids=["", "stream"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_refused_request_leaves_the_live_name_as_it_was(
    client: Client, driver: Driver, streaming: bool, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    name = new_name("live")
    kept = keep(client, driver, fresh(name), SHORT, name)
    history = kept.then("And another one?")
    arranged_used(client.ask(driver, history, SHORT, start=name), "what was kept")

    what = refused(client, driver, kept, keep_name=name, start=None, stream=streaming)
    what += refused(client, driver, kept, keep_name=name, start=name, stream=streaming)

    again = client.ask(driver, history, SHORT, start=name)
    expect(
        said(again) == "used",
        expected=f"the name still used after refused requests ({', '.join(dict.fromkeys(what))})",
        actual=again.story,
    )


@requirement("KEEP-4")
@pytest.mark.parametrize("streaming", [False, True], ids=["", "stream"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_refused_request_keeps_nothing(
    client: Client, driver: Driver, streaming: bool, new_name: NewName
) -> None:
    arranged_unknown(client, driver)
    arranged_forks(client, driver)
    live, never = new_name("live"), new_name("never")
    kept = keep(client, driver, fresh(live), SHORT, live)
    history = kept.then("And another one?")
    arranged_used(client.ask(driver, history, SHORT, start=live), "what was kept")

    refused(client, driver, kept, keep_name=never, start=None, stream=streaming)
    refused(client, driver, kept, keep_name=never, start=live, stream=streaming)

    stranger = client.ask(driver, history, SHORT, start=never)
    expect_equal("X-Halogen-From for the name of refused requests", said(stranger), "unknown")
    handles = client.names()
    if handles is not None:
        expect(not handles.has(never), expected=f"no {never} in the list", actual=handles.body)


@requirement("KEEP-4")
def test_a_name_can_be_kept_after_it_was_refused(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    live, name = new_name("live"), new_name("later")
    kept = keep(client, CHAT, fresh(live), SHORT, live)
    refused(client, CHAT, kept, keep_name=name, start=None, stream=False)

    later = keep(client, CHAT, fresh(name), SHORT, name)

    again = client.ask(CHAT, later.then("And another one?"), SHORT, start=name)
    expect_equal("X-Halogen-From for what was kept after all", said(again), "used")
