"""BRANCH-4, BRANCH-6 to BRANCH-9: other beginnings, other spellings, and the edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, MESSAGES, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Call, Conversation, Json, Tool
from halogen_conformance.drivers.driver import Options, Request, session_headers
from halogen_conformance.drivers.spelling import VARIANTS
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_difference, arranged_forks, arranged_twins
from halogen_conformance.suite.branching import (
    Branch,
    arranged_goes_on,
    branches,
    expect_goes_on,
    expect_not_repeated,
)
from halogen_conformance.suite.kept import (
    SHORT,
    Kept,
    NewName,
    arranged_used,
    expect_unmatched,
    fresh,
    keep,
    said,
)
from halogen_conformance.suite.marks import requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

NO_BEGINNINGS: dict[str, Callable[[Kept, str], str]] = {
    "other words": lambda kept, part: "Words that the model has not said",
    "a letter changed": lambda kept, part: part[:-1] + ("x" if part[-1] != "x" else "y"),
    "more than the whole reply": lambda kept, part: kept.reply.rstrip() + " and more",
}


@requirement("BRANCH-4")
@x3
def test_words_the_reply_does_not_begin_with_are_unmatched_and_continued(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver, options)
    arranged_difference(client, driver)
    branch = branches(client, driver, new_name("kept"), options)[-1]
    name = branch.kept.name
    arranged_goes_on(client.ask(driver, branch.history, options, start=name), branch)

    for what, change in NO_BEGINNINGS.items():
        sent = change(branch.kept, branch.part)
        history = branch.kept.before.branch(sent)
        answer = client.ask(driver, history, options, start=name)
        expect_unmatched(f"{what}", answer)
        expect_not_repeated(answer, Branch(branch.kept, sent))
        if what == "a letter changed":
            twin = ask_twin(client, driver, history, options)
            expect_twin(answer, twin, declared, f"for {what}")

    again = client.ask(driver, branch.history, options, start=name)
    expect_equal("X-Halogen-From for the true beginning, afterwards", said(again), "used")


@requirement("BRANCH-4")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_true_beginning_after_another_question_is_unmatched(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver)
    arranged_difference(client, driver)
    branch = branches(client, driver, new_name("kept"))[-1]
    name = branch.kept.name
    arranged_used(client.ask(driver, branch.history, SHORT, start=name), "a true beginning")
    question = branch.kept.before.cut(1).user("Another question altogether?")

    answer = client.ask(driver, question.branch(branch.part), SHORT, start=name)

    expect_unmatched("another question", answer)
    twin = ask_twin(client, driver, question.branch(branch.part), SHORT)
    expect_twin(answer, twin, declared)


TEXT_SPELLINGS = frozenset({"string", "parts", "string, typed item", "parts, typed item"})


@requirement("BRANCH-6")
@x3
def test_all_spellings_branch_at_one_place(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    branch = branches(client, driver, new_name("kept"), options)[-1]
    name = branch.kept.name
    plain = client.ask(driver, branch.history, options, start=name)
    arranged_goes_on(plain, branch)

    for label, spelling in VARIANTS[driver.route]:
        if label not in TEXT_SPELLINGS:
            continue
        longer = branch.kept.then("Go on.")
        whole = client.ask(driver, longer, options, start=name, spelling=spelling)
        arranged_used(whole, f"the whole history spelled as {label}")
        answer = client.ask(driver, branch.history, options, start=name, spelling=spelling)
        expect_goes_on(answer, branch, f"a beginning spelled as {label}")
        expect_twin(answer, plain, declared, f"spelled as {label}")


@requirement("BRANCH-7")
@pytest.mark.parametrize("blank", [" ", "\n", "  "], ids=["blank", "line end", "two blanks"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_beginning_that_ends_in_white_space_is_continued_after_it(
    client: Client, driver: Driver, blank: str, new_name: NewName, declared: Declared
) -> None:
    """Trimmed, the prompt would be that of the words without the blank."""
    base = fresh(new_name("blank"))
    bare = ask_twin(client, driver, base.branch("The colour is"), SHORT)
    answer = client.ask(driver, base.branch("The colour is" + blank), SHORT)
    if driver is MESSAGES and answer.status == 400:
        raise NotOffered("refused with 400 on Messages, as by the public API")
    expect(answer.ok, expected="an answer", actual=answer.story)
    if not answer.reply.usage or not bare.reply.usage:
        raise NotOffered("the answer has no usage, so sizes cannot be compared")
    expect(
        answer.reply.usage.prompt > bare.reply.usage.prompt,
        expected=f"a prompt longer than the {bare.reply.usage.prompt} tokens without white space",
        actual=f"{answer.reply.usage.prompt} tokens",
    )


@requirement("BRANCH-7")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_branch_behind_a_blank_is_used(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver)
    branch = branches(client, driver, new_name("kept"))[0]
    part = branch.kept.reply[: len(branch.part) + 1]
    arranged(part[-1] == " ", f"no blank behind the word: {part!r}")
    history = branch.kept.before.branch(part)

    answer = client.ask(driver, history, SHORT, start=branch.kept.name)

    if driver is MESSAGES and answer.status == 400:
        raise NotOffered("refused with 400 on Messages, as by the public API")
    expect_equal("X-Halogen-From for a beginning with a blank", said(answer), "used")
    expect_twin(answer, ask_twin(client, driver, history, SHORT), declared)


@requirement("BRANCH-8")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_the_whole_reply_is_a_beginning_of_itself(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver)
    kept = branches(client, driver, new_name("kept"))[0].kept
    history = kept.before.branch(kept.reply)

    answers = [client.ask(driver, history, SHORT, start=kept.name) for _ in range(2)]

    for answer in answers:
        expect(answer.ok, expected="an answer", actual=answer.story)
        expect_equal("X-Halogen-From for the whole reply, open", said(answer), "used")
    expect_twin(answers[1], answers[0], declared, "asked twice")
    expect_twin(answers[0], ask_twin(client, driver, history, SHORT), declared)


TOOL = Tool("look", "Looks.", {"type": "object", "properties": {}})


def two_assistants(history: Conversation) -> Conversation:
    return history.assistant("Red").branch("or blue")


def a_call_without_result(history: Conversation) -> Conversation:
    called = history.with_tools(TOOL).assistant("", (Call("call_1", "look", "{}"),))
    return replace(called, partial=True)


@requirement("BRANCH-9")
@pytest.mark.parametrize("route", tuple(DRIVERS))
@pytest.mark.parametrize(
    "spoil", [two_assistants, a_call_without_result], ids=["two assistants", "an open call"]
)
def test_what_cannot_be_continued_is_refused(
    client: Client,
    driver: Driver,
    spoil: Callable[[Conversation], Conversation],
    new_name: NewName,
) -> None:
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, fresh(name), SHORT, name)
    request = driver.request(spoil(kept.before), SHORT)
    bad = Request("POST", driver.path, request.headers, request.body, driver.route, True)

    exchange = client.send(bad.plus(*session_headers(name, name)))

    again = client.ask(driver, kept.then("Go on."), SHORT, start=name)
    expect_equal("X-Halogen-From for the name, afterwards", said(again), "used")
    expect_equal("status", exchange.status, 400)


@requirement("BRANCH-9")
def test_contradictory_flags_are_refused(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    name = new_name("kept")
    kept = keep(client, CHAT, fresh(name), SHORT, name)
    both: dict[str, Json] = {"continue_final_message": True, "add_generation_prompt": True}
    history = kept.before.branch("The colour is")

    answer = client.ask(CHAT, history, Options(max_tokens=8, extra=both), start=name, keep=name)

    again = client.ask(CHAT, kept.then("Go on."), SHORT, start=name)
    expect_equal("X-Halogen-From for the name, afterwards", said(again), "used")
    expect_equal("status", answer.status, 400)
    arranged(answer.reply.error is not None, "the refusal has no error body")
