"""RESTART: state that cannot be trusted (RESTART-3), and a server that is killed (RESTART-4)."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.exchange import Ending
from halogen_conformance.order import Order
from halogen_conformance.outcomes import Blocked, arranged, expect, expect_equal
from halogen_conformance.suite.basics import (
    arranged_difference,
    arranged_twins,
    arranged_unknown,
)
from halogen_conformance.suite.kept import Kept, NewName, fresh, keep, said
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.own_server import OwnServers, start_again
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target import GROUPS, Server
from halogen_conformance.target.settings import Declared

OPTIONS = Options(max_tokens=4)
WIDE = Conversation().user("More than a context of 512 tokens has room for. " * 70)


def stored_files(server: Server) -> list[Path]:
    folder = server.settings.cache_dir
    assert folder is not None
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def flip(path: Path) -> None:
    """Change a bit in every 61st byte: nothing that is checked can still be right."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3 :: 61] = bytes(byte ^ 16 for byte in data[len(data) // 3 :: 61])
    path.write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def drop(path: Path) -> None:
    os.truncate(path, 0)


def fill(path: Path) -> None:
    """As long as it was, and nothing of what it held."""
    path.write_bytes(random.Random(path.stat().st_size).randbytes(path.stat().st_size))


DAMAGES: dict[str, Callable[[Path], None]] = {"flip": flip, "cut": cut, "drop": drop, "fill": fill}


def check_it_works(client: Client, name: str) -> None:
    """Whatever it found on its disk, the server keeps and starts as ever."""
    one = keep(client, CHAT, fresh(name), OPTIONS, name)
    answer = client.ask(CHAT, one.then("And now?"), OPTIONS, start=name)
    expect_equal("outcome of a name kept after the restart", said(answer), "used")


def keep_two(client: Client, new_name: NewName, word: str = "plan") -> list[Kept]:
    names = [new_name(word), new_name(f"{word}-2")]
    return [keep(client, CHAT, fresh(name), OPTIONS, name) for name in names]


def restart_clean(server: Server, own: OwnServers, kept: list[Kept]) -> None:
    """The positive twin: without damage the names are used. Leaves the server stopped."""
    server.restart()
    client = own.client(server)
    for one in kept:
        answer = client.ask(CHAT, one.then("And now?"), OPTIONS, start=one.name)
        arranged(answer.outcome == "used", f"a name did not outlive a restart: {answer.story}")
    server.stop()


@requirement("RESTART-3")
def test_damaged_files_are_not_used(own: OwnServers, new_name: NewName, declared: Declared) -> None:
    with own.started(GROUPS["restart"]) as server:
        arranged_unknown(own.client(server), CHAT)
        arranged_twins(own.client(server), CHAT, declared, forks=1)
        kept = keep_two(own.client(server), new_name, "sound")
        restart_clean(server, own, kept)
        server.start()
        for how, damage in DAMAGES.items():
            kept = keep_two(own.client(server), new_name, how)
            server.stop()
            files = stored_files(server)
            arranged(bool(files), "nothing is stored in the cache directory after a clean stop")
            for path in files:
                damage(path)

            start_again(server)
            client = own.client(server)
            for one in kept:
                history, what = one.then("And now?"), f"with damaged files ({how})"
                answer = client.ask(CHAT, history, OPTIONS, start=one.name)
                expect_equal(f"outcome {what}", said(answer), "unknown")
                expect_twin(answer, ask_twin(client, CHAT, history, OPTIONS), declared, what)
            check_it_works(client, new_name(f"after-{how}"))


@requirement("RESTART-3")
def test_foreign_files_are_left_alone(
    own: OwnServers, new_name: NewName, declared: Declared
) -> None:
    with own.started(GROUPS["restart"]) as server:
        arranged_twins(own.client(server), CHAT, declared, forks=1)
        kept = keep_two(own.client(server), new_name)
        restart_clean(server, own, kept)
        folder = server.settings.cache_dir
        assert folder is not None
        suffixes = {path.suffix for path in stored_files(server)} | {".txt"}
        for suffix in suffixes:
            # As somebody's backup, or another program, would leave them.
            (folder / f"stranger{suffix}").write_bytes(b"not a state at all\n" * 20)
            (folder / f"folder{suffix}").mkdir(exist_ok=True)

        start_again(server)
        client = own.client(server)

        handles = client.names()
        listed = handles.names if handles else None
        strangers = [name for name in listed or [] if "stranger" in name]
        expect(not strangers, expected="no name made of a foreign file", actual=strangers)
        check_it_works(client, new_name("after"))
        for one in kept:
            answer = client.ask(CHAT, one.then("And now?"), OPTIONS, start=one.name)
            twin = ask_twin(client, CHAT, one.then("And now?"), OPTIONS)
            expect_twin(answer, twin, declared, "beside foreign files")


@requirement("RESTART-3")
def test_state_of_other_settings_is_not_used(
    own: OwnServers, new_name: NewName, declared: Declared
) -> None:
    with own.started(GROUPS["restart"]) as server:
        client = own.client(server)
        arranged_twins(client, CHAT, declared, forks=1)
        kept = keep_two(client, new_name)
        roomy = client.ask(CHAT, WIDE, OPTIONS).ok
        restart_clean(server, own, kept)
        settings = server.settings
    # The same folder, with a context of another size.
    with own.started(settings, extra_env={"HALOGEN_CTX": "512"}) as other:
        client = own.client(other)
        arranged_unknown(client, CHAT)
        # A server that does not read this setting has the same settings as before.
        differs = roomy and not client.ask(CHAT, WIDE, OPTIONS).ok
        for one in kept:
            history = one.then("And now?")
            answer = client.ask(CHAT, history, OPTIONS, start=one.name)
            if differs:
                expect_equal("outcome with another context", said(answer), "unknown")
            twin = ask_twin(client, CHAT, history, OPTIONS)
            expect_twin(answer, twin, declared, f"with another context ({answer.outcome})")
        check_it_works(client, new_name("after"))


@requirement("RESTART-4")
def test_killed_at_any_moment_it_lists_only_what_is_whole(
    own: OwnServers, new_name: NewName, declared: Declared, order: Order
) -> None:
    chance = random.Random(order.seed)
    with own.started(GROUPS["restart"]) as server:
        arranged_difference(own.client(server), CHAT)
        arranged_twins(own.client(server), CHAT, declared, forks=1)
        moved: list[Kept] = []
        for number in range(2):
            kept = _kill_while_keeping(server, own, new_name, f"round-{number}", chance, moved)

            start_again(server)
            client = own.client(server)
            handles = client.names()
            expect(handles is not None, expected="a list after the kill", actual="none")
            for one in kept:
                if handles is None or not handles.has(one.name):
                    continue
                _expect_whole(client, one, declared)
            check_it_works(client, new_name(f"after-{number}"))
            # The name that was moved on and on holds one of its states, if it is listed.
            if handles and moved and handles.has(moved[0].name):
                outcomes = [
                    said(client.ask(CHAT, one.then("And now?"), OPTIONS, start=one.name))
                    for one in moved
                ]
                expect("used" in outcomes, expected="one whole state", actual=outcomes)


def _expect_whole(client: Client, one: Kept, declared: Declared) -> None:
    history = one.then("And now?")
    answer = client.ask(CHAT, history, OPTIONS, start=one.name)
    expect_equal(f"outcome of {one.name}, which is listed", said(answer), "used")
    expect_twin(answer, ask_twin(client, CHAT, history, OPTIONS), declared, f"from {one.name}")


def _kill_while_keeping(
    server: Server,
    own: OwnServers,
    new_name: NewName,
    word: str,
    chance: random.Random,
    moved: list[Kept],
) -> list[Kept]:
    """Kill the server in the middle of a row of keeps; what had been answered until then."""
    client, kept = own.client(server), list[Kept]()
    enough, failure = threading.Event(), list[BaseException]()
    wanted = chance.randint(2, 5)
    moving = new_name(f"{word}-moved")
    moved.clear()

    def keeps() -> None:
        try:
            for number in range(200):
                name = new_name(f"{word}-{number}")
                kept.append(keep(client, CHAT, fresh(name), OPTIONS, name))
                history = fresh(moving) if not moved else moved[-1].then("More.")
                if len(history.turns) < 12:
                    moved.append(keep(client, CHAT, history, OPTIONS, moving))
                if number >= wanted:
                    enough.set()
        except Blocked as blocked:
            failure.append(blocked)
        finally:
            enough.set()

    worker = threading.Thread(target=keeps)
    worker.start()
    try:
        enough.wait()
        if not failure:
            server.kill()
    finally:
        server.kill()
        worker.join()
    arranged(len(kept) > 1, f"the server did not keep what it was to lose: {failure}")
    # The last answer may have been cut off after the state was written.
    arranged(all(one.answer.exchange.ending is Ending.COMPLETE for one in kept), "an answer broke")
    return kept
