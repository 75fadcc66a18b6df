"""FROM-11: tool calls and their results are history like any other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import (
    Assistant,
    Call,
    Conversation,
    Tool,
    ToolResult,
    Turn,
)
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.spelling import Spelling
from halogen_conformance.outcomes import NotOffered, expect, expect_equal
from halogen_conformance.suite.basics import arranged_difference, arranged_forks, arranged_twins
from halogen_conformance.suite.kept import (
    SHORT,
    Kept,
    NewName,
    arranged_used,
    expect_unmatched,
    keep,
    said,
    some,
)
from halogen_conformance.suite.marks import requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

WEATHER = Tool(
    "weather",
    "The weather of a place.",
    {
        "type": "object",
        "properties": {
            "place": {"type": "string", "enum": ["Oslo", "Rome"]},
            "days": {"type": "integer", "enum": [1, 2]},
        },
        "required": ["place", "days"],
    },
)
FORECAST = Tool("weather", "The weather.", {"type": "object"})
"""Where nothing is called: what a server with a model need not read is time saved."""
QUIET = replace(SHORT, tool_choice="none")


def asked_before(name: str) -> Conversation:
    """A history with a call and its result in it, written by the client."""
    return (
        Conversation()
        .system(f"{name} is your file.")
        .user("Do I need an umbrella in Oslo?")
        .assistant("", (Call("call_a", "weather", '{"place": "Oslo", "days": 1}'),))
        .result("call_a", "rain, 8 degrees")
        .with_tools(FORECAST)
    )


@requirement("FROM-11")
@x3
def test_calls_and_results_inside_the_kept_history_are_used(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    name = new_name("kept")
    quiet = replace(QUIET, stream=options.stream)
    kept = keep(client, driver, asked_before(name), quiet, name)
    history = kept.then("And tomorrow?")
    twin = ask_twin(client, driver, history, quiet)

    answer = client.ask(driver, history, quiet, start=name)

    expect_equal("X-Halogen-From after a call and its result", said(answer), "used")
    expect_twin(answer, twin, declared)


CHANGED: dict[str, tuple[int, Turn]] = {
    "another result": (3, ToolResult("call_a", "sun, 20 degrees")),
    "another argument": (
        2,
        Assistant("", (Call("call_a", "weather", '{"place": "Rome", "days": 1}'),)),
    ),
    "a text before the call": (
        2,
        Assistant("Let me see.", (Call("call_a", "weather", '{"place": "Oslo", "days": 1}'),)),
    ),
}


@requirement("FROM-11")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_another_call_or_result_is_unmatched(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_forks(client, driver)
    arranged_difference(client, driver)
    name = new_name("kept")
    kept = keep(client, driver, asked_before(name), QUIET, name)
    true = kept.then("And tomorrow?")
    arranged_used(client.ask(driver, true, QUIET, start=name), "the true history")

    for what, (index, turn) in some(CHANGED, driver):
        edited = true.swap(index, turn)
        answer = client.ask(driver, edited, QUIET, start=name)
        expect_unmatched(f"a history with {what}", answer)
    expect_twin(answer, ask_twin(client, driver, edited, QUIET), declared, f"with {what}")


def keep_a_call(client: Client, driver: Driver, options: Options, name: str) -> Kept:
    """Have a reply kept that is a tool call; N/A when the model cannot be made to call."""
    history = (
        Conversation()
        .system(f"{name} is your file.")
        .user("What is the weather in Oslo tomorrow?")
        .with_tools(WEATHER)
    )
    for choice in ("required", WEATHER.name):
        calling = replace(options, max_tokens=64, tool_choice=choice)
        answer = client.ask(driver, history, calling, keep=name)
        if answer.ok and answer.reply.calls:
            return Kept(name, history.plus(answer.reply.turn(reasoning=True)), answer)
    raise NotOffered(f"no tool call came although one was required: {answer.story}")


@requirement("FROM-11")
@x3
def test_a_state_kept_at_a_call_is_used_by_its_result(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_forks(client, driver, options)
    name = new_name("call")
    kept = keep_a_call(client, driver, options, name)
    quiet = replace(QUIET, stream=options.stream)
    history = kept.history
    for call in kept.answer.reply.calls:
        history = history.result(call.id, "rain, 8 degrees")

    answer = client.ask(driver, history, quiet, start=name)
    further = client.ask(driver, history.user("Thank you."), quiet, start=name)

    # No comparison with a twin here: the state holds the arguments as the model wrote them, the
    # twin's prompt has them as the client did, and both are right (FROM-8).
    expect(answer.ok, expected="an answer to the result of the kept call", actual=answer.story)
    expect_equal("X-Halogen-From for the result of the kept call", said(answer), "used")
    expect_equal("X-Halogen-From with a message after it", said(further), "used")


@requirement("FROM-8")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_call_sent_back_in_another_spelling_is_used(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_forks(client, driver)
    arranged_forks(client, driver, options)
    name = new_name("call")
    kept = keep_a_call(client, driver, options, name)
    history = kept.history
    for call in kept.answer.reply.calls:
        history = history.result(call.id, "rain, 8 degrees")

    arranged_used(client.ask(driver, history, QUIET, start=name), "the call as it came")
    for spelling in (Spelling(arguments="reversed"), Spelling(arguments="compact")):
        answer = client.ask(driver, history, QUIET, start=name, spelling=spelling)
        expect_equal(
            f"X-Halogen-From with the arguments {spelling.arguments}", said(answer), "used"
        )


@requirement("FROM-11")
def test_a_loop_of_calls_is_used_at_each_step(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    name = new_name("loop")
    kept = keep_a_call(client, CHAT, SHORT, name)
    history = kept.history
    for step in range(2):
        for call in kept.answer.reply.calls:
            history = history.result(call.id, f"step {step}: rain")
        calling = replace(SHORT, max_tokens=96, tool_choice="required")
        answer = client.ask(CHAT, history, calling, start=name, keep=name)
        expect(answer.ok, expected=f"an answer at step {step + 1}", actual=answer.story)
        expect_equal(f"X-Halogen-From at step {step + 1}", said(answer), "used")
        if not answer.reply.calls:
            break  # the model has had enough; the loop is over
        history = history.plus(answer.reply.turn(reasoning=True))
        kept = Kept(name, history, answer)
