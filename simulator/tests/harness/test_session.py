"""Sessions: what they are kept under, what forks start from, what a restart takes up."""

from pathlib import Path

import pytest

from halogen_conformance.drivers.conversation import (
    Assistant,
    Call,
    System,
    Tool,
    ToolResult,
    User,
)
from halogen_conformance.drivers.reply import Reply
from halogen_conformance.drivers.reply import Usage as DriverUsage
from halogen_simulator.harness.history import history
from halogen_simulator.harness.record import Message, Text, Usage
from halogen_simulator.harness.session import (
    Session,
    said_by_model,
    said_by_tool,
    said_by_user,
    state_generation,
    state_name,
)
from halogen_simulator.harness.store import Store
from halogen_simulator.harness.tools import Output
from halogen_simulator.harness.transcript import Transcript
from tests.harness.made import message, same


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def begun(store: Store, *, kept: bool = True) -> Session:
    transcript = Transcript.new()
    session = Session(transcript, store.journal(transcript.session_id))
    session.add(message("a"))
    session.kept = session.name if kept else None
    return session


def test_a_fork_starts_where_its_parent_is(store: Store) -> None:
    parent = begun(store)
    name = parent.name
    fork = parent.fork(store, "alt")
    assert fork.kept == name and fork.name == fork.session_id != name
    assert same(fork.journal.load().transcript, fork.transcript)
    # The parent goes on from the same state, and leaves it to the fork as it is.
    assert parent.kept == name and parent.name != name
    second = parent.fork(store)
    assert second.kept == name
    assert parent.name == f"{name}.1"


def test_a_fork_of_a_fork_that_said_nothing(store: Store) -> None:
    parent = begun(store)
    fork = parent.fork(store).fork(store)
    assert fork.kept == parent.session_id


def test_a_fork_of_what_was_never_kept(store: Store) -> None:
    parent = begun(store, kept=False)
    assert parent.fork(store).kept is None and parent.name == parent.session_id


def test_a_forks_messages_are_its_own(store: Store) -> None:
    parent = begun(store)
    fork = parent.fork(store)
    fork.add(message("of the fork"))
    parent.add(message("of the parent"))
    assert [one.text for one in parent.journal.load().transcript.messages] == ["a", "of the parent"]
    assert [one.text for one in fork.journal.load().transcript.messages] == ["a", "of the fork"]


def test_names_of_states() -> None:
    names = {state_name("s", generation): generation for generation in (0, 1, 12)}
    assert names == {"s": 0, "s.1": 1, "s.12": 12}
    assert [state_generation("s", name) for name in names] == [0, 1, 12]
    assert [state_generation("s", name) for name in ("t", "s.", "s.x", "s1", "")] == [None] * 5


@pytest.mark.parametrize(
    ("live", "kept", "name"),
    [
        (["x", "{own}.1", "{own}", "{own}.2", "{parent}"], "{own}.2", "{own}.2"),
        (["{own}"], "{own}", "{own}"),
        (["{parent}", "{parent}.3"], "{parent}.3", "{own}"),
        (["x"], "{own}", "{own}"),
        ([], "{own}", "{own}"),
        (None, "{own}", "{own}"),
    ],
)
def test_taken_up_after_a_restart(
    store: Store, live: list[str] | None, kept: str, name: str
) -> None:
    parent = begun(store)
    fork = parent.fork(store)
    again = Session(fork.journal.load().transcript, fork.journal)
    words = {"own": fork.session_id, "parent": parent.session_id}
    again.take_up(None if live is None else [one.format(**words) for one in live])
    assert (again.kept, again.name) == (kept.format(**words), name.format(**words))


def test_a_session_without_messages_has_no_state_to_start_from(store: Store) -> None:
    session = Session(Transcript.new(), store.journal("x"))
    session.take_up([])
    assert session.kept is None


def test_replies_as_messages_and_back() -> None:
    calls = (Call("1", "look", '{"at": "quay"}'), Call("2", "look", '{"at": "hill"}'))
    reply = Reply(text="I look.", calls=calls, usage=DriverUsage(prompt=30, cached=20, output=5))
    said = said_by_model(reply)
    assert said.usage == Usage(input_tokens=10, output_tokens=5, cache_read_input_tokens=20)
    told = [
        said_by_user("Is it foggy?"),
        said,
        said_by_tool("1", "look", Output("grey")),
        said_by_tool("2", "look", Output("no hill", is_error=True)),
        said_by_model(Reply()),
    ]
    tool = Tool("look", "", {})
    found = history(told, "Be brief.", (tool,))
    assert found.tools == (tool,)
    assert found.turns == (
        System("Be brief."),
        User("Is it foggy?"),
        Assistant("I look.", calls),
        ToolResult("1", "grey"),
        ToolResult("2", "no hill", is_error=True),
        Assistant(""),
    )


def test_what_a_file_may_hold_can_be_sent() -> None:
    told = [
        Message(role="system", blocks=(Text(text="a"), Text(text="b"))),
        Message(role="user", blocks=(Text(text="a"), Text(text="b"))),
        Message(role="user", blocks=()),
    ]
    assert history(told).turns == (System("ab"), User(("a", "b")))


@pytest.mark.parametrize("arguments", ['{"at": "qu', "[]", "1", "nonsense"])
def test_arguments_cut_short_are_sent_as_none(arguments: str) -> None:
    said = said_by_model(Reply(calls=(Call("1", "look", arguments),)))
    assert history([said]).turns == (Assistant("", (Call("1", "look", "{}"),)),)
