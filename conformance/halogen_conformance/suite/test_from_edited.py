"""FROM-4: a history that differs anywhere in the kept part is answered as what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import (
    Assistant,
    Conversation,
    System,
    Tool,
    User,
)
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import expect, expect_equal
from halogen_conformance.suite.basics import arranged_forks
from halogen_conformance.suite.kept import SHORT, NewName, arranged_used, keep, said, some
from halogen_conformance.suite.marks import requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

TOOL = Tool(
    "read_file",
    "Reads a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
OTHER_TOOL = Tool("list_files", "Lists files.", {"type": "object", "properties": {}})
NO_CALL = replace(SHORT, tool_choice="none")


def three_turns(name: str) -> Conversation:
    """System, user, assistant, user; the reply to be kept comes fifth."""
    return (
        Conversation()
        .system(f"{name} is your file.")
        .user("Name one colour.")
        .assistant("Red.")
        .user("And a number?")
    )


def _without(history: Conversation, index: int) -> Conversation:
    return replace(history, turns=history.turns[:index] + history.turns[index + 1 :])


def _reply(history: Conversation, change: Callable[[str], str]) -> Conversation:
    turn = history.turns[4]
    assert isinstance(turn, Assistant)
    return history.swap(4, replace(turn, text=change(turn.text)))


EDITS: dict[str, Callable[[Conversation], Conversation]] = {
    "another system text": lambda h: h.swap(0, System("Answer at length.")),
    "one letter more in the system text": lambda h: h.swap(0, System(_text(h, 0) + "s")),
    "no system text": lambda h: _without(h, 0),
    "one letter less in a user's message": lambda h: h.swap(1, User("Name one color.")),
    "another case in a user's message": lambda h: h.swap(3, User("and a number?")),
    "another earlier reply": lambda h: h.swap(2, Assistant("Blue.")),
    "another last user's message": lambda h: h.swap(3, User("And a letter?")),
    "an earlier exchange left out": lambda h: _without(_without(h, 1), 1),
    "an exchange more at the front": lambda h: replace(
        h, turns=(h.turns[0], User("Hello."), Assistant("Hello."), *h.turns[1:])
    ),
    "another reply": lambda h: h.swap(4, Assistant("Something the model has not said.")),
    "one letter more in the reply": lambda h: _reply(h, lambda text: text + "s"),
    "a letter in front of the reply": lambda h: _reply(h, lambda text: "s" + text),
    "no reply": lambda h: _without(h, 4),
    "a shorter history": lambda h: h.cut(1),
    "a history that ends before the reply": lambda h: h.cut(3),
}
"""Each differs from the true history in one fact."""


def _text(history: Conversation, index: int) -> str:
    turn = history.turns[index]
    assert isinstance(turn, System)
    return turn.text


@requirement("FROM-4")
@pytest.mark.parametrize("edit", [pytest.param(edit, id=what) for what, edit in EDITS.items()])
def test_an_edited_history_is_unmatched(
    client: Client,
    driver: Driver,
    edit: Callable[[Conversation], Conversation],
    new_name: NewName,
    declared: Declared,
) -> None:
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, three_turns(name), SHORT, name)
    true = kept.then("And a letter?")
    arranged_used(client.ask(driver, true, SHORT, start=name), "the true history")
    edited = edit(kept.history).user("And a letter?")
    twin = ask_twin(client, driver, edited, SHORT)

    answer = client.ask(driver, edited, SHORT, start=name)
    again = client.ask(driver, true, SHORT, start=name)

    expect_equal("X-Halogen-From for the edited history", said(answer), "unmatched")
    expect_twin(answer, twin, declared)
    expect_equal("X-Halogen-From for the true history, afterwards", said(again), "used")


@requirement("FROM-4")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_history_that_stops_earlier_is_unmatched(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    """Asking an earlier question once more: everything that is sent was kept, and more was."""
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, three_turns(name), SHORT, name)
    true = kept.then("And a letter?")
    arranged_used(client.ask(driver, true, SHORT, start=name), "the true history")

    for turns in (4, 2):
        earlier = kept.history.cut(turns)
        answer = client.ask(driver, earlier, SHORT, start=name)
        expect_equal(f"X-Halogen-From for its first {turns} turns", said(answer), "unmatched")
        expect_twin(answer, ask_twin(client, driver, earlier, SHORT), declared)

    again = client.ask(driver, true, SHORT, start=name)
    expect_equal("X-Halogen-From for the true history, afterwards", said(again), "used")


FEW = (
    "one letter more in the system text",
    "one letter more in the reply",
    "a shorter history",
)


@requirement("FROM-4")
@x3
def test_every_route_sees_the_difference(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver, options)
    name = new_name("kept")
    kept = keep(client, driver, three_turns(name), options, name)
    true = kept.then("And a letter?")
    arranged_used(client.ask(driver, true, options, start=name), "the true history")

    for what in FEW:
        edited = EDITS[what](kept.history).user("And a letter?")
        answer = client.ask(driver, edited, options, start=name)
        expect_equal(f"X-Halogen-From with {what}", said(answer), "unmatched")
    expect_twin(answer, ask_twin(client, driver, edited, options), declared, f"with {what}")

    again = client.ask(driver, true, options, start=name)
    expect_equal("X-Halogen-From for the true history, afterwards", said(again), "used")


TOOLS: dict[str, tuple[Tool, ...]] = {
    "no tools": (),
    "another tool": (OTHER_TOOL,),
    "one more tool": (TOOL, OTHER_TOOL),
    "another description": (replace(TOOL, description="Reads a file or a folder."),),
    "another parameter": (
        replace(
            TOOL,
            parameters={"type": "object", "properties": {"file": {"type": "string"}}},
        ),
    ),
}


@requirement("FROM-4")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_other_tools_make_another_history(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, three_turns(name).with_tools(TOOL), NO_CALL, name)
    true = kept.then("And a letter?")
    arranged_used(client.ask(driver, true, NO_CALL, start=name), "the true history")

    for what, tools in some(TOOLS, driver):
        edited = true.with_tools(*tools)
        # Without tools there is nothing to forbid.
        options = NO_CALL if tools else SHORT
        answer = client.ask(driver, edited, options, start=name)
        expect_equal(f"X-Halogen-From with {what}", said(answer), "unmatched")
    expect_twin(answer, ask_twin(client, driver, edited, options), declared, f"with {what}")

    again = client.ask(driver, true, NO_CALL, start=name)
    expect_equal("X-Halogen-From for the true history, afterwards", said(again), "used")


@requirement("FROM-4")
def test_an_answer_from_an_edited_history_does_not_depend_on_what_was_taken_back(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    """A harness takes a reminder out of an earlier message: the answer must not know it."""
    arranged_forks(client, CHAT)
    name = new_name("kept")
    reminder = "Reminder: the word of the day is zeppelin. Use it in every sentence."
    start = Conversation().system(f"{name} is your file.")
    kept = keep(client, CHAT, start.user(reminder, "Hello."), SHORT, name)
    arranged_used(client.ask(CHAT, kept.then("Go on."), SHORT, start=name), "the true history")

    taken_back = start.user("Hello.").plus(kept.answer.reply.turn()).user("Go on.")
    answer = client.ask(CHAT, taken_back, SHORT, start=name)

    expect(said(answer) == "unmatched", expected="unmatched", actual=answer.story)
    expect_twin(answer, ask_twin(client, CHAT, taken_back, SHORT), declared)
