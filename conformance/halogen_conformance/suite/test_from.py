"""FROM-1, FROM-2, FROM-5: what the outcome of a start from a name says."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.answer import OUTCOMES, Answer
from halogen_conformance.drivers.client import Client, Leave
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options, Request, session_headers
from halogen_conformance.drivers.exchange import Ending
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.recorder import Recorder
from halogen_conformance.suite.basics import arranged_difference, arranged_forks
from halogen_conformance.suite.kept import SHORT, Kept, NewName, fresh, keep, said
from halogen_conformance.suite.marks import requirement, x3


def expect_one_outcome(answer: Answer, what: str) -> None:
    legal = len(answer.outcomes) == 1 and answer.outcomes[0] in OUTCOMES
    expect(
        legal,
        expected=f"{what}: one X-Halogen-From of used, unmatched, unknown",
        actual=answer.story,
    )


@requirement("FROM-1")
@x3
def test_every_answer_has_one_outcome(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    name, never = new_name("kept"), new_name("never")
    kept = keep(client, driver, fresh(name), options, name)
    history = kept.then("And another one?")
    cases = {
        "the history that was kept": (history, name, None),
        "another history": (fresh(new_name("other")), name, None),
        "a name never kept": (history, never, None),
        "a start that is kept in turn": (history, name, new_name("forward")),
        "a name started from and kept": (fresh(never), never, never),
    }

    for what, (asked, start, keep_name) in cases.items():
        answer = client.ask(driver, asked, options, start=start, keep=keep_name)
        arranged(answer.status == 200, f"{what} was not answered: {answer.story}")
        expect_one_outcome(answer, what)


@requirement("FROM-1")
@pytest.mark.parametrize("streaming", [True], ids=["stream"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_the_outcome_comes_before_the_body(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    name = new_name("kept")
    kept = keep(client, driver, fresh(name), options, name)

    head = client.ask(driver, kept.then("Go on."), options, start=name, leave=Leave(after=0))

    arranged(head.exchange.ending is Ending.LEFT, f"no response headers came: {head.story}")
    expect_one_outcome(head, "the head of a stream whose body was not read")


@requirement("FROM-1")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_refused_request_has_no_two_outcomes_and_no_other_word(
    client: Client, driver: Driver, recorder: Recorder, new_name: NewName
) -> None:
    name = new_name("kept")
    keep(client, driver, fresh(name), SHORT, name)
    bad = Request("POST", driver.path, body=b"{", route=driver.route, deliberately_bad=True)

    exchange = client.send(bad.plus(*session_headers(None, name)))

    outcomes = exchange.header("X-Halogen-From")
    legal = not outcomes or (len(outcomes) == 1 and outcomes[0] in OUTCOMES)
    expect(legal, expected="one legal outcome, or none: it was refused", actual=outcomes)
    if not outcomes:
        recorder.note(f"a request refused with {exchange.status} says no outcome")


CONTINUATIONS: dict[str, tuple[Conversation, ...]] = {
    "one message": (Conversation().user("And another one?"),),
    "two blocks": (Conversation().user("And another one?", "Just the word."),),
    "several turns": (
        Conversation().user("And another one?").assistant("Teal.").user("One more."),
    ),
    "text of many scripts": (
        Conversation().user("Und noch eine, schöne? 色をもう一つ 🎨👩‍👩‍👧 e\u0301"),
    ),
    "blanks and line ends": (Conversation().user("  And\n\n\tanother?  \n"),),
}


@requirement("FROM-2")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_history_that_goes_on_is_used(client: Client, driver: Driver, new_name: NewName) -> None:
    arranged_forks(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, fresh(name), SHORT, name)

    for what, endings in CONTINUATIONS.items():
        for ending in endings:
            history = kept.history.plus(*ending.turns)
            answer = client.ask(driver, history, SHORT, start=name)
            expect(answer.ok, expected=f"an answer to {what} more", actual=answer.story)
            expect_equal(f"X-Halogen-From with {what} more", said(answer), "used")


KEPT: dict[str, Conversation] = {
    "no system text": Conversation().user("Name one colour."),
    "a longer conversation": (
        Conversation()
        .system("Answer in brief.")
        .user("Name one colour.")
        .assistant("Red.")
        .user("Another.")
        .assistant("Blue, I think.")
        .user("A third?")
    ),
    "text of many scripts": (
        Conversation().system("Antworte kürzer. 簡潔に。").user("Eine Farbe, bitte 🎨 Ω≈ç√ \u200d")
    ),
    "blanks and line ends": Conversation().system("  Be brief.\n").user("\n\nName one  colour.\t"),
    "a user who says nothing new": Conversation().user("Red.").assistant("Red.").user("Red."),
    "words that look like marks of a template": (
        Conversation().user("What is <|im_end|> or [INST] or <s> or {{ x }}?")
    ),
}


@requirement("FROM-2")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_any_kept_history_is_used(client: Client, driver: Driver, new_name: NewName) -> None:
    for number, (what, history) in enumerate(KEPT.items()):
        name = new_name(f"kept{number}")
        kept = keep(client, driver, history, SHORT, name)

        answer = client.ask(driver, kept.then("And another one?"), SHORT, start=name)

        # Were it not kept at all, that were KEEP-1's question.
        arranged(said(answer) != "unknown", f"what was kept is unknown: {answer.story}")
        expect_equal(f"X-Halogen-From for a kept history with {what}", said(answer), "used")


@requirement("FROM-2")
def test_the_outcome_goes_by_the_history_of_that_name(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    arranged_difference(client, CHAT)
    red, blue = new_name("red"), new_name("blue")
    kepts = [keep(client, CHAT, fresh(name), SHORT, name) for name in (red, blue)]

    def outcome(kept: Kept, name: str) -> str:
        return said(client.ask(CHAT, kept.then("And another one?"), SHORT, start=name))

    seen = {
        (kept.name, name): outcome(kept, name) == "used" for kept in kepts for name in (red, blue)
    }

    # One fact differs: whose history it is.
    expected = {(red, red): True, (blue, blue): True, (red, blue): False, (blue, red): False}
    expect_equal("whether it is used, for (history of, started from)", seen, expected)
