"""FROM-8, FROM-14: a history is what it says, not how its JSON is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Call, Conversation, Tool
from halogen_conformance.drivers.spelling import PLAIN, VARIANTS, Spelling
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.recorder import Recorder
from halogen_conformance.suite.basics import arranged_difference, arranged_forks
from halogen_conformance.suite.kept import (
    SHORT,
    Kept,
    NewName,
    arranged_used,
    expect_unmatched,
    said,
    some,
)
from halogen_conformance.suite.marks import requirement
from halogen_conformance.target.settings import Declared

TOOL = Tool(
    "list_files",
    "Lists files.",
    {"type": "object", "properties": {"path": {"type": "string"}}},
)
OPTIONS = replace(SHORT, tool_choice="none")
# In the order of the alphabet, which is how some servers write what they have read: turned round
# it is not.
ARGUMENTS = '{"depth": 2, "only": {"kind": "text", "newer": true}, "path": "docs", "skip": [1, 2]}'


def with_a_call(name: str, arguments: str = ARGUMENTS) -> Conversation:
    """A history with every part that has several spellings: texts, a call, its result."""
    return (
        Conversation()
        .system(f"{name} is your file.")
        .user("What is in docs?")
        .assistant("I shall look.", (Call("call_1", "list_files", arguments),))
        .result("call_1", "a.txt, b.txt")
        .user("Which one is first?")
        .with_tools(TOOL)
    )


def keep_spelled(client: Client, driver: Driver, name: str, spelling: Spelling) -> Kept:
    history = with_a_call(name)
    answer = client.ask(driver, history, OPTIONS, keep=name, spelling=spelling)
    arranged(answer.ok, f"a request that keeps a name was not answered: {answer.story}")
    return Kept(name, history.plus(answer.reply.turn(reasoning=True)), answer)


# Spellings that some servers refuse for reasons of their own (an explicit null, a field they do
# not know). Their answers must be used all the same; their refusals are no breach.
OPTIONAL = frozenset({"null fields", "is_error written out", "string, typed item"})


@requirement("FROM-8")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_history_spelled_otherwise_is_used(
    client: Client, driver: Driver, recorder: Recorder, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep_spelled(client, driver, name, PLAIN)
    history = kept.then("And the second?")
    arranged_used(client.ask(driver, history, OPTIONS, start=name), "the same spelling")

    sizes = set()
    for label, spelling in VARIANTS[driver.route][1:]:
        answer = client.ask(driver, history, OPTIONS, start=name, spelling=spelling)
        if label in OPTIONAL and answer.status == 400:
            recorder.note(f"refused with 400: {label}")
            continue
        expect(answer.ok, expected=f"an answer when spelled with {label}", actual=answer.story)
        expect_equal(f"X-Halogen-From when spelled with {label}", said(answer), "used")
        sizes |= {answer.reply.usage.prompt} if answer.reply.usage else set()
    expect(len(sizes) <= 1, expected="one prompt size for all spellings", actual=sorted(sizes))


@requirement("FROM-8")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_history_kept_in_another_spelling_is_used(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    plain = keep_spelled(client, driver, new_name("plain"), PLAIN)
    again = client.ask(driver, plain.then("And the second?"), OPTIONS, start=plain.name)
    arranged_used(again, "the same spelling")

    for number, (label, spelling) in enumerate(VARIANTS[driver.route][1:]):
        if label in OPTIONAL:
            continue
        name = new_name(f"kept{number}")
        kept = keep_spelled(client, driver, name, spelling)

        answer = client.ask(driver, kept.then("And the second?"), OPTIONS, start=name)

        expect_equal(f"X-Halogen-From when kept with {label}", said(answer), "used")


CHANGED = {
    "another number in the arguments": ARGUMENTS.replace('"depth": 2', '"depth": 3'),
    "another text in the arguments": ARGUMENTS.replace("docs", "doc"),
    "a number as a text": ARGUMENTS.replace('"depth": 2', '"depth": "2"'),
    "another order in an array": ARGUMENTS.replace("[1, 2]", "[2, 1]"),
    "an argument left out": ARGUMENTS.replace(', "skip": [1, 2]', ""),
    "a value deep inside": ARGUMENTS.replace("true", "false"),
}


@requirement("FROM-8")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_changed_value_is_unmatched(client: Client, driver: Driver, new_name: NewName) -> None:
    arranged_forks(client, driver)
    arranged_difference(client, driver)
    name = new_name("kept")
    kept = keep_spelled(client, driver, name, PLAIN)
    true = kept.then("And the second?")
    arranged_used(client.ask(driver, true, OPTIONS, start=name), "the true history")

    for what, arguments in some(CHANGED, driver):
        turn = with_a_call(name, arguments).turns[2]
        answer = client.ask(driver, true.swap(2, turn), OPTIONS, start=name)
        expect_unmatched(f"a history with {what}", answer)


@requirement("FROM-8")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_two_blocks_are_not_one_text_with_other_words(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    """A message of several blocks is a history, too, and a changed block changes it."""
    arranged_forks(client, driver)
    arranged_difference(client, driver)
    name = new_name("kept")
    first = Conversation().system(f"{name} is your file.").user("Remember this.", "Name a colour.")
    answer = client.ask(driver, first, SHORT, keep=name)
    arranged(answer.ok, f"a request that keeps a name was not answered: {answer.story}")
    history = first.plus(answer.reply.turn(reasoning=True)).user("And another one?")
    other = (
        Conversation()
        .system(f"{name} is your file.")
        .user("Remember that.", "Name a colour.")
        .plus(answer.reply.turn(reasoning=True))
        .user("And another one?")
    )

    same = client.ask(driver, history, SHORT, start=name)
    changed = client.ask(driver, other, SHORT, start=name)

    expect_equal("X-Halogen-From for the same blocks", said(same), "used")
    expect_unmatched("a history with a block changed", changed)


@requirement("FROM-14")
def test_the_key_order_of_a_tools_schema_does_not_count(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, CHAT)
    name = new_name("kept")
    kept = keep_spelled(client, CHAT, name, PLAIN)
    arranged_used(client.ask(CHAT, kept.then("Go on."), OPTIONS, start=name), "the same schema")
    turned = replace(TOOL, parameters=dict(reversed(TOOL.parameters.items())))

    answer = client.ask(CHAT, kept.then("Go on.").with_tools(turned), OPTIONS, start=name)

    expect_equal("X-Halogen-From with the schema's keys turned round", said(answer), "used")
