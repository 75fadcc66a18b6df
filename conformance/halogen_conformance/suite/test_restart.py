"""RESTART: what outlives a clean restart (RESTART-1, -2, -5), and who can read it (RESTART-6)."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.basics import (
    arranged_cheap,
    arranged_listed,
    arranged_rekeep,
    arranged_twins,
    arranged_unknown,
)
from halogen_conformance.suite.cost import expect_only_new
from halogen_conformance.suite.kept import Kept, NewName, fresh, keep, long_history, said
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.own_server import OwnServers
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target import GROUPS, Server
from halogen_conformance.target.settings import Declared

OPTIONS = Options(max_tokens=4)


@pytest.fixture
def kept(
    started: Server, own: OwnServers, new_name: NewName, declared: Declared
) -> dict[str, Kept]:
    """One name for each route, all used before the restart."""
    client, found = own.client(started), {}
    arranged_rekeep(client, CHAT)
    arranged_cheap(client, CHAT)
    for driver in DRIVERS.values():
        arranged_twins(client, driver, declared, forks=1)
    arranged_listed(client)
    for route, driver in DRIVERS.items():
        name = new_name(route)
        found[route] = keep(client, driver, long_history(name), OPTIONS, name)
        answer = client.ask(driver, found[route].then("And now?"), OPTIONS, start=name)
        arranged(answer.outcome == "used", f"a name just kept is not used: {answer.story}")
    # And one that has moved on: it must come back as it was last.
    first = found[CHAT.route]
    found[CHAT.route] = keep(client, CHAT, first.then("And?"), OPTIONS, first.name)
    return found


@pytest.fixture
def started(own: OwnServers) -> Iterator[Server]:
    """A server with a cache directory."""
    with own.started(GROUPS["restart"]) as server:
        yield server


@requirement("RESTART-1")
def test_names_outlive_a_clean_restart(
    started: Server, own: OwnServers, kept: dict[str, Kept], declared: Declared
) -> None:
    # Twice: a state that is read back once must not be used up by it.
    for time_round in ("first", "second"):
        started.restart()
        client = own.client(started)
        handles = client.names()
        for one in kept.values():
            where = f"{one.name} after the {time_round} restart"
            listed = handles is not None and handles.has(one.name)
            expect(listed, expected=f"{where} in the list", actual=handles and handles.body)
        for route, one in kept.items():
            driver, history = DRIVERS[route], one.then(f"What now, after the {time_round}?")
            answer = client.ask(driver, history, OPTIONS, start=one.name)
            twin = ask_twin(client, driver, history, OPTIONS)
            where = f"{one.name} after the {time_round} restart"
            expect_equal(f"outcome of {where}", said(answer), "used")
            expect_only_new(answer, one, where)
            expect_twin(answer, twin, declared, f"from {where}")


@requirement("RESTART-2")
def test_without_a_cache_directory_every_name_is_unknown(
    own: OwnServers, new_name: NewName, declared: Declared
) -> None:
    with own.started(GROUPS["default"]) as server:
        client, name = own.client(server), new_name("plan")
        one = keep(client, CHAT, fresh(name), OPTIONS, name)
        before = client.ask(CHAT, one.then("And now?"), OPTIONS, start=name)
        arranged(before.outcome == "used", f"a name just kept is not used: {before.story}")

        server.restart()
        client = own.client(server)
        arranged_unknown(client, CHAT)
        answer = client.ask(CHAT, one.then("And now?"), OPTIONS, start=name)
        twin = ask_twin(client, CHAT, one.then("And now?"), OPTIONS)
        handles = client.names()

        expect_equal("outcome after the restart", said(answer), "unknown")
        expect_twin(answer, twin, declared)
        arranged(handles is not None, "the list was not answered with status 200 and JSON")
        assert handles is not None
        expect(not handles.has(name), expected=f"no {name} in the list", actual=handles.body)


@requirement("RESTART-5")
def test_time_spent_down_counts_as_unused(own: OwnServers, new_name: NewName) -> None:
    with own.started(GROUPS["restart-ttl"]) as server:
        assert server.ttl_s is not None
        client, name = own.client(server), new_name("plan")
        one = keep(client, CHAT, fresh(name), OPTIONS, name)
        server.restart()
        client = own.client(server)
        # The twin: down for a moment only, the name lives. This is also its last use.
        answer = client.ask(CHAT, one.then("And now?"), OPTIONS, start=name)
        since = time.monotonic()
        arranged(answer.outcome == "used", f"the name did not outlive a restart: {answer.story}")

        server.stop()
        time.sleep(max(0.0, since + server.ttl_s + 0.5 - time.monotonic()))
        server.start()
        client = own.client(server)
        arranged_unknown(client, CHAT)
        handles = client.names()
        late = client.ask(CHAT, one.then("And now?"), OPTIONS, start=name)

        expect_equal(f"outcome after {server.ttl_s:g} s down", said(late), "unknown")
        listed = handles is not None and handles.has(name)
        expect(not listed, expected=f"no {name} in the list", actual=handles and handles.body)


@requirement("RESTART-6")
def test_nobody_else_can_read_what_is_stored(started: Server, kept: dict[str, Kept]) -> None:
    folder = started.settings.cache_dir
    assert folder is not None
    started.stop()
    # Empty ones, such as locks, tell nobody anything.
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    arranged(bool(files), "nothing is stored in the cache directory after a clean stop")

    open_to_others = [str(path.relative_to(folder)) for path in files if _open(path, folder)]

    expect(not open_to_others, expected="files for their owner only", actual=open_to_others)


def _open(path: Path, folder: Path) -> bool:
    """Whether others than the owner get to a file: none of its folders and not itself forbid it."""
    others = stat.S_IRWXG | stat.S_IRWXO
    chain = [path, *(up for up in path.parents if up == folder or folder in up.parents)]
    return all(one.stat().st_mode & others for one in chain)
