"""Mapped names: nobody guesses them, no two keys share one, none without the setting (MAP-5, 6)."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.claude_code.client import Thread, count
from tests.claude_code.conftest import MAPPING
from tests.protocol.server import Server, running

ONE, TWO = "sk-example-key-one", "sk-example-key-two"
_sessions = itertools.count()


def session() -> str:
    return f"11111111-0000-4000-8000-{next(_sessions):012d}"


def begun(thread: Thread) -> str:
    """The name a thread's first turn makes."""
    before = set(thread.server.handles())
    assert thread.turn("First question.").outcome == "unknown"
    (name,) = set(thread.server.handles()) - before
    assert thread.server.handles()[name]["source"] == "claude-code"
    return name


def explicit(
    thread: Thread, key: str | None, *, keep: bool = False, name: str
) -> tuple[str, str | None]:
    """The thread's next turn by another client, which names the state itself: what it is told of
    the start and of the keep."""
    body: dict[str, Any] = thread.body([*thread.messages, {"role": "user", "content": "Next."}])
    headers = {"x-halogen-keep" if keep else "x-halogen-from": name}
    if key is not None:
        headers["x-api-key"] = key
    got = thread.server.http.post("/v1/messages", json=body | {"stream": False}, headers=headers)
    assert got.status_code == 200
    return got.headers.get("x-halogen-from", ""), got.headers.get("x-halogen-keep")


def test_map_5_a_name_for_each_session_thread_and_key(mapped: Server) -> None:
    number = session()
    threads = [
        Thread(mapped, number),
        Thread(mapped, number, "agent-1"),
        Thread(mapped, number, "agent-2"),
        Thread(mapped, session(), "agent-1"),
        Thread(mapped, number, key=TWO),
        Thread(mapped, number, "agent-1", key=TWO),
    ]
    for thread in threads:
        # Another system each: none of them starts from another.
        thread.system = f"{thread.session} {thread.agent} {thread.key[-3:]}. " * 20
    names: list[str] = []
    for thread in threads:
        before = set(mapped.handles())
        assert thread.turn("First question.").outcome == "unknown"
        names += set(mapped.handles()) - before
    assert len(set(names)) == len(threads)
    for name, thread in zip(names, threads, strict=True):
        secret = name.rpartition(":")[2]
        # 128 bits that tell nothing of what they are made from.
        assert len(secret) >= 32 and int(secret, 16)
        assert thread.session not in name and (thread.agent or "?") not in name
        assert thread.key not in name


def test_map_5_names_differ_between_servers(mapped: Server, fresh: Server) -> None:
    """Whoever knows session, agent and key still does not know the name."""
    number = session()
    names = {begun(Thread(server, number)) for server in (mapped, fresh)}
    assert len(names) == 2


def test_auth_3_a_mapped_name_is_its_keys_alone(mapped: Server) -> None:
    thread = Thread(mapped, session(), key=ONE, system=f"{session()} " * 40)
    name = begun(thread)
    before = mapped.handles()[name]
    for key in (TWO, None):
        assert explicit(thread, key, name=name) == ("unknown", None)
        assert explicit(thread, key, name=name, keep=True) == ("", "refused")
    after = mapped.handles()[name]
    assert (after["created_at"], after["tokens"]) == (before["created_at"], before["tokens"])
    # For its own key it is a name like any other.
    assert explicit(thread, ONE, name=name) == ("used", None)
    assert thread.turn("Second question.").outcome == "used"


def test_auth_3_the_same_thread_by_another_key_starts_cold(mapped: Server) -> None:
    number = session()
    first = Thread(mapped, number, key=ONE, system=f"{number} " * 40)
    begun(first)
    other = Thread(mapped, number, key=TWO, system=first.system, messages=list(first.messages))
    assert other.turn("What was said?").outcome == "unknown"
    assert first.turn("Second question.").outcome == "used"
    assert other.turn("And now?").outcome == "used"


SWITCHED_OFF = [
    {"HALOGEN_FORK_MAP": ""},
    {"HALOGEN_FORK": ""},
    {"HALOGEN_FORK": "0"},
]


@pytest.mark.parametrize("setting", SWITCHED_OFF, ids=["no map", "no fork", "fork 0"])
def test_map_6_no_name_without_the_setting(
    engine: str, tmp_path: Path, setting: dict[str, str]
) -> None:
    with running(engine, tmp_path / "log", {**MAPPING, **setting}) as server:
        for hints in (False, True):
            for agent, parent in ((None, None), ("a", None), ("b", "a")):
                thread = Thread(server, session(), agent, parent, hints=hints)
                for _ in range(2):
                    assert thread.turn("Question.").outcome is None
                assert count(server, thread.body(thread.messages), thread.headers("main"))
        listed = server.http.get("/halogen/handles")
        if "HALOGEN_FORK" in setting:
            assert listed.status_code == 404
        else:
            assert listed.json()["data"] == []
        assert server.gauge("halogen_kv_cells_used") == 0
