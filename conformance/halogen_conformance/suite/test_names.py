"""NAME: which values of the session headers are names, and that no value breaks anything."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import FROM, KEEP, Header, Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_forks
from halogen_conformance.suite.kept import SHORT, Kept, NewName, fresh, keep, said
from halogen_conformance.suite.listing import handles_of, listed_names
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.own_server import OwnServers
from halogen_conformance.target import GROUPS
from halogen_conformance.target.target import Running

TINY = Options(max_tokens=2)

ODD_NAMES: dict[str, bytes] = {
    "empty": b"",
    "blank": b"   ",
    "dots": b"..",
    "up and away": b"../../../../etc/passwd",
    "absolute": b"/etc/passwd",
    "backslashes": b"..\\..\\x",
    "percent": b"%2e%2e%2f%00%0d%0a",
    "quotes": b"\"'`;--",
    "json": b'{"a": ["b"]}',
    "html": b"<script>alert(1)</script>",
    "format": b"{0.__class__} %s %n ${x} $(x)",
    "comma": b"one,two, three",
    "inner blanks": b"two words\tand more",
    "latin-1": b"gr\xf6\xdfe",
    "utf-8": "größe 名前 💡".encode(),
    "broken utf-8": b"\xff\xfe\x80",
    "delete": b"a\x7fb",
    "device": b"CON",
    "256": b"x" * 256,
    "257": b"x" * 257,
    "4096": b"y" * 4096,
}


def pairs(values: list[tuple[str, bytes]]) -> list[list[tuple[str, bytes]]]:
    return [values[at : at + 2] for at in range(0, len(values), 2)]


def ask_odd(client: Client, driver: Driver, *headers: Header) -> Answer:
    return client.ask(driver, fresh("odd"), TINY, headers=headers)


def expect_no_harm(answer: Answer, what: str) -> None:
    status = answer.status
    refused_or_ok = status is not None and status < 500
    expect(refused_or_ok, expected=f"an answer below 500 to {what}", actual=answer.story)


def arranged_neighbour(client: Client, new_name: NewName) -> Kept:
    arranged_forks(client, CHAT)
    name = new_name("neighbour")
    return keep(client, CHAT, fresh(name), SHORT, name)


def expect_neighbour(client: Client, neighbour: Kept) -> None:
    answer = client.ask(CHAT, neighbour.then("Still there?"), TINY, start=neighbour.name)
    expect_equal("outcome of another name afterwards", said(answer), "used")


@pytest.mark.parametrize("route", DRIVERS)
@requirement("NAME-1")
def test_odd_values_do_no_harm(
    client: Client, server: Running, driver: Driver, new_name: NewName
) -> None:
    # All on one route; on the others some, the code that reads headers is seldom each route's own.
    values = list(ODD_NAMES.items())[:: 1 if driver is CHAT else 4]
    for pair in pairs(values):
        # Kept anew each time, so that it cannot be the cap that costs the neighbour its place.
        neighbour = arranged_neighbour(client, new_name)
        for what, value in pair:
            for headers in (((KEEP, value), (FROM, value)), ((FROM, value),)):
                expect_no_harm(ask_odd(client, driver, *headers), f"the value {what!r}")
        expect_neighbour(client, neighbour)

    server.check_alive()


@requirement("NAME-1")
def test_values_beyond_all_bounds_do_no_harm(
    client: Client, server: Running, new_name: NewName
) -> None:
    neighbour = arranged_neighbour(client, new_name)

    for size in (20_000, 200_000):
        answer = ask_odd(client, CHAT, (KEEP, b"z" * size))
        # Hanging up on a header of this size is an answer, too.
        expect(
            answer.status is None or answer.status < 500,
            expected=f"a name of {size} characters refused or answered",
            actual=answer.story,
        )

    server.check_alive()
    expect_neighbour(client, neighbour)


@requirement("NAME-1")
def test_headers_sent_twice_do_no_harm(client: Client, new_name: NewName) -> None:
    neighbour, other = arranged_neighbour(client, new_name), new_name("other")

    for header in (KEEP, FROM):
        answer = ask_odd(client, CHAT, (header, neighbour.name), (header, other))
        expect_no_harm(answer, f"{header} sent twice")

    # Whichever of the two was meant, this name's state is not one the client asked to lose.
    arranged(handles_of(client).has(neighbour.name), "the other name is not listed any more")


@requirement("NAME-1")
def test_no_file_outside_the_cache_directory(own: OwnServers, new_name: NewName) -> None:
    with own.started(GROUPS["restart"]) as server:
        client, cache = own.client(server), server.settings.cache_dir
        assert cache is not None
        home = cache.parent
        inside = cache / "deep"
        before = files_outside(home, cache)
        names = [
            "../evil",
            "../../evil",
            f"{home}/evil",
            f"{inside}/../../evil",
            "..%2fevil",
            "..\\evil",
            "~/evil",
            "evil\\..\\..\\evil",
        ]
        for name in names:
            keep(client, CHAT, fresh(name), TINY, name)
        neighbour = arranged_neighbour(client, new_name)
        expect_neighbour(client, neighbour)
        server.stop()

        # What is written after the answer is written by now.
        new = sorted(str(path) for path in files_outside(home, cache) - before)
        expect(not new, expected="every file inside the cache directory", actual=new)
        arranged(any(cache.rglob("*")), "nothing is stored in the cache directory")


def files_outside(home: Path, cache: Path) -> set[Path]:
    """Files a path-like name could have made: in the server's folder and the one above."""
    around = {*home.rglob("*evil*"), *home.parent.glob("*evil*"), *Path.home().glob("evil*")}
    around |= {path for path in home.iterdir() if path != cache}
    return {path for path in around if cache not in path.parents and path.suffix != ".log"}


VALID = ("plan", "a/b", "..", "%2e", '"', "{x}", "~", "x" * 256, "!")
INVALID = (b"", b"two words", b"a\tb", b"x" * 257, "größe".encode(), b"\xff")


@requirement("NAME-2")
def test_valid_names_are_accepted(client: Client, new_name: NewName) -> None:
    for word in VALID:
        name = word if len(word) == 256 else f"{word}{new_name('')}"
        kept = keep(client, CHAT, fresh(name), TINY, name)
        answer = client.ask(CHAT, kept.then("And now?"), TINY, start=name)

        expect_equal(
            f"X-Halogen-Keep of the answer for {name[:40]}", kept.answer.kept, ("accepted",)
        )
        expect_equal(f"outcome of {name[:40]}", said(answer), "used")


@requirement("NAME-2")
def test_what_is_no_name_is_refused(client: Client) -> None:
    before = listed_names(client)
    for value in INVALID:
        answer = ask_odd(client, CHAT, (KEEP, value), (FROM, value))

        expect(answer.ok, expected=f"an answer as usual for {value[:20]!r}", actual=answer.story)
        expect_equal(f"X-Halogen-Keep for {value[:20]!r}", answer.kept, ("refused",))
        expect_equal(f"outcome for {value[:20]!r}", said(answer), "unknown")
    expect_equal("new names", listed_names(client) - before, set())


@requirement("NAME-2")
def test_case_counts(client: Client, new_name: NewName) -> None:
    low = new_name("case")
    kept = keep(client, CHAT, fresh(low), SHORT, low)

    answer = client.ask(CHAT, kept.then("And now?"), TINY, start=low.upper())

    expect_equal("outcome of the name in capitals", said(answer), "unknown")


@requirement("NAME-3")
@pytest.mark.parametrize("route", DRIVERS)
def test_all_clients_share_one_set_of_names(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    name = new_name("shared")
    kept = keep(client, driver, fresh(name), SHORT, name)
    # Another program, by all that a server can see of it.
    stranger = client.with_headers(("User-Agent", "another-program/1.0"), ("x-client", "b"))

    same = stranger.ask(
        driver, kept.then("And now?"), Options(max_tokens=2, stream=True), start=name
    )
    others = {
        route: stranger.ask(other, kept.then("And now?"), TINY, start=name)
        for route, other in DRIVERS.items()
    }

    expect_equal("outcome for another client", said(same), "used")
    for route, answer in others.items():
        expect(
            said(answer) in ("used", "unmatched"),
            expected=f"the name to be known on the route {route}",
            actual=answer.story,
        )


@requirement("NAME-4")
def test_header_names_in_any_case(client: Client, new_name: NewName) -> None:
    name = new_name("cased")
    for keep_as, from_as in (
        (KEEP.lower(), FROM.lower()),
        (KEEP.upper(), FROM.upper()),
        ("x-HALOGEN-keep", "X-halogen-FROM"),
    ):
        history = fresh(f"{name}-{time.monotonic_ns()}")
        first = client.ask(CHAT, history, SHORT, headers=((keep_as, name),))
        arranged(first.ok, f"a request was not answered: {first.story}")
        history = history.plus(first.reply.turn()).user("And now?")
        answer = client.ask(CHAT, history, TINY, headers=((from_as, name),))

        expect_equal(f"outcome with {keep_as} and {from_as}", said(answer), "used")
