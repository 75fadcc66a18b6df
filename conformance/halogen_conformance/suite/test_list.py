"""LIST: the list of names is the independent look at what a server holds."""

from __future__ import annotations

import time

from halogen_conformance.drivers import CHAT, DRIVERS
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.handles import Handles
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_forks, arranged_unknown
from halogen_conformance.suite.kept import SHORT, NewName, fresh, keep, said
from halogen_conformance.suite.marks import needs, requirement
from halogen_conformance.target.target import Running


def listed(client: Client) -> Handles:
    """The list, as LIST-1 wants it to be answered."""
    exchange = client.handles()
    expect_equal("status of the list", exchange.status, 200)
    try:
        return Handles(exchange.json())
    except ValueError as error:
        expect(False, expected="a JSON body", actual=f"{exchange.body[:200]!r} ({error})")
        raise


@requirement("LIST-1")
def test_the_list_names_what_is_kept(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    names = []
    for route, driver in DRIVERS.items():
        names.append(new_name(route))
        kept = keep(client, driver, fresh(names[-1]), SHORT, names[-1])
        forked = client.ask(driver, kept.then("Go on."), SHORT, start=names[-1])
        # The other look at what is kept: a list is only wrong about names that are live.
        arranged(forked.outcome == "used", f"what was kept is not used: {forked.story}")

    handles = listed(client)

    for name in names:
        expect(handles.has(name), expected=f"{name} in the list", actual=handles.body)


@requirement("LIST-1")
def test_the_list_does_not_name_what_was_only_asked_for(client: Client, new_name: NewName) -> None:
    kept, asked = new_name("kept"), new_name("asked")
    keep(client, CHAT, fresh(kept), SHORT, kept)
    answer = client.ask(CHAT, fresh(asked), SHORT, start=asked)
    arranged(answer.ok, f"the request was not answered: {answer.story}")

    handles = listed(client)

    expect(handles.has(kept), expected=f"{kept} in the list", actual=handles.body)
    expect(not handles.has(asked), expected=f"no {asked} in the list", actual=handles.body)


@requirement("LIST-1")
def test_the_list_has_names_as_they_were_given(client: Client, new_name: NewName) -> None:
    """Signs that JSON, URLs and file names treat in ways of their own."""
    arranged_forks(client, CHAT)
    names = [new_name(word) for word in ('quo"te\\', "a/b/../c", "per%20cent+&?=", "{brace}:;,")]
    names += [new_name("Case"), new_name("case")]
    kepts = [keep(client, CHAT, fresh(f"k{n}"), SHORT, name) for n, name in enumerate(names)]
    live = [
        kept.name
        for kept in kepts
        if client.ask(CHAT, kept.then("Go on."), SHORT, start=kept.name).outcome == "used"
    ]
    if not live:
        raise NotOffered("none of these names is accepted here")

    handles = listed(client)

    for name in live:
        expect(handles.has(name), expected=f"{name} in the list", actual=handles.body)


@requirement("LIST-1")
def test_a_name_is_listed_once_and_no_other_like_it(client: Client, new_name: NewName) -> None:
    """Kept twice, it is still one name, and nothing else stands there on its account."""
    name = new_name("twice")
    keep(client, CHAT, fresh(f"{name}-old"), SHORT, name)
    keep(client, CHAT, fresh(f"{name}-new"), SHORT, name)

    handles = listed(client)

    arranged(handles.names is not None, f"the list cannot be read: {handles.body!r}")
    like_it = [one for one in handles.names or () if name in one]
    expect_equal(f"names in the list that contain {name}", like_it, [name])


@requirement("LIST-1")
def test_looking_changes_nothing(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    name = new_name("kept")
    kept = keep(client, CHAT, fresh(name), SHORT, name)

    looks = [listed(client) for _ in range(3)]

    for handles in looks:
        expect(handles.has(name), expected=f"{name} in the list", actual=handles.body)
    forked = client.ask(CHAT, kept.then("Go on."), SHORT, start=name)
    expect_equal("X-Halogen-From after looking at the list", said(forked), "used")


@requirement("LIST-1")
@needs("cap")
def test_a_name_that_is_gone_is_not_listed(
    client: Client, server: Running, new_name: NewName
) -> None:
    arranged_forks(client, CHAT)
    arranged_unknown(client, CHAT)
    cap = server.handles
    if cap is None or cap > 16:
        raise NotOffered(f"fills every place, so it needs a cap of 16 at most, not {cap}")
    names = [new_name(f"place{number}") for number in range(cap + 2)]
    kepts = [keep(client, CHAT, fresh(name), SHORT, name) for name in names]

    handles = listed(client)

    # Both looks must tell the same of every name; a start that is not used restarts no clock.
    for kept in kepts:
        forked = client.ask(CHAT, kept.then("Go on."), SHORT, start=kept.name)
        live = said(forked) in ("used", "unmatched")
        expect(
            handles.has(kept.name) == live,
            expected=f"{kept.name} {'in' if live else 'not in'} the list: {forked.story}",
            actual=handles.body,
        )


FIELDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "tokens": int,
    "bytes": int,
    "parent": (str, type(None)),
    "source": str,
    "created_at": (int, float),
    "last_used_at": (int, float),
    "expires_at": (int, float),
    "on_disk": bool,
}


@requirement("LIST-2")
def test_the_shape_of_the_list(client: Client, server: Running, new_name: NewName) -> None:
    parent, child = new_name("parent"), new_name("child")
    before = time.time()
    kept = keep(client, CHAT, fresh(parent), SHORT, parent)
    keep(client, CHAT, kept.then("Go on."), SHORT, child, start=parent)

    handles = listed(client)

    body = handles.body
    expect(isinstance(body, dict), expected="a JSON object", actual=body)
    expect_equal("object", body.get("object"), "list")
    row, forked = handles.row(parent), handles.row(child)
    expect(row is not None and forked is not None, expected="an entry for each name", actual=body)
    assert row is not None and forked is not None
    wrong = [key for key, kind in FIELDS.items() if not isinstance(row.get(key), kind)]
    expect(not wrong, expected=f"fields of the right kind: {', '.join(FIELDS)}", actual=row)
    expect_equal("parent of a name kept by itself", row["parent"], None)
    expect_equal("parent of a name kept from another", forked["parent"], parent)
    near = before - 5 <= row["created_at"] <= row["last_used_at"] <= time.time() + 5
    expect(near, expected="times in Unix seconds, created before used", actual=row)
    if server.handles is not None:
        expect_equal("max_handles", body.get("max_handles"), server.handles)
    if server.ttl_s is not None:
        expect_equal("ttl_s", body.get("ttl_s"), server.ttl_s)
        left = row["expires_at"] - row["last_used_at"]
        expect(abs(left - server.ttl_s) < 2, expected="expiry one TTL after use", actual=row)
    if kept.size is not None:
        about = abs(row["tokens"] - kept.size) <= 8
        expect(about, expected=f"about {kept.size} tokens", actual=row)
