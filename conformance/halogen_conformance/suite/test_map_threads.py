"""MAP: each thread of Claude Code has a state of its own and goes on from it."""

from __future__ import annotations

from functools import partial

import pytest

from halogen_conformance.drivers import MESSAGES
from halogen_conformance.drivers.client import together
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_cheap, arranged_listed
from halogen_conformance.suite.claude_code import Thread, cheap, new_session
from halogen_conformance.suite.listing import listed_names
from halogen_conformance.suite.marks import hinted, needs, requirement


@requirement("MAP-1")
@needs("map")
@hinted
def test_a_conversation_goes_on_from_its_own_state(main: Thread) -> None:
    arranged_cheap(main.client, MESSAGES, Options(stream=True))
    first = main.ask("First question.")
    arranged(not cheap(first, main.size), "the first turn of a new session cost next to nothing")

    for number in range(3):
        main.goes_on(f"Question {number}.")


@requirement("MAP-1")
@needs("map")
def test_a_subagent_goes_on_from_its_own_state(main: Thread) -> None:
    arranged_cheap(main.client, MESSAGES, Options(stream=True))
    main.ask("First question.")
    helper = main.subagent("a-helper", system="You help. " * 14)
    helper.ask("Do your part.")

    for number in range(2):
        helper.goes_on(f"Part {number}.")


@requirement("MAP-1")
@needs("map")
def test_every_thread_has_a_name_of_its_own(main: Thread) -> None:
    arranged_listed(main.client)
    arranged_cheap(main.client, MESSAGES, Options(stream=True))
    before = listed_names(main.client)
    threads = [main, main.subagent("a-1"), main.subagent("a-2")]
    found = []

    for thread in threads:
        thread.ask("First question.")
        now = listed_names(main.client)
        found.append(now - before)
        before = before | now

    for thread, names in zip(threads, found, strict=True):
        who = thread.agent or "the main conversation"
        expect(len(names) == 1, expected=f"one new name for {who}", actual=sorted(names))
    main.goes_on("Second question.")
    expect_equal("names after another turn", listed_names(main.client) - before, set())


@requirement("MAP-2")
@needs("map")
@pytest.mark.usefixtures("mapping")
def test_threads_that_take_turns(main: Thread) -> None:
    threads = _family(main)

    for number in range(2):
        for thread in threads:
            thread.goes_on(f"Step {number}.")


@requirement("MAP-2")
@needs("map")
@pytest.mark.usefixtures("mapping")
def test_threads_that_run_at_once(main: Thread) -> None:
    threads = _family(main)

    for number in range(3):
        _all_at_once(threads, f"Step {number}, together.")


@requirement("MAP-2")
@needs("map")
@pytest.mark.usefixtures("mapping")
def test_subagents_that_all_begin_at_once(main: Thread) -> None:
    main.ask("First question.")
    helpers = [main.subagent(f"a-{number}", system="You help. " * 14) for number in range(5)]

    # Five requests of one session are on their way before the first is answered.
    together(*[partial(helper.ask, "Begin.") for helper in helpers])

    _all_at_once(helpers, "Go on.")
    main.goes_on("And you.")


@requirement("MAP-2")
@needs("map")
@pytest.mark.usefixtures("mapping")
def test_one_agent_id_in_two_sessions_is_two_threads(main: Thread) -> None:
    arranged_listed(main.client)
    other = Thread(main.client, new_session(), hints=main.hints)
    before = listed_names(main.client)
    pair = [each.subagent("a-1", system=f"{each.session} " * 3) for each in (main, other)]
    for thread in pair:
        thread.ask("Begin.")

    new = listed_names(main.client) - before
    for thread in (*pair, *reversed(pair)):
        thread.goes_on("Go on.")

    expect(len(new) == 2, expected="a name for each of the two threads", actual=sorted(new))


@requirement("MAP-3")
@needs("map")
@pytest.mark.usefixtures("mapping")
@hinted
def test_a_fork_subagent_starts_from_its_parent(main: Thread) -> None:
    main.ask("First question.")
    before = main.size
    main.goes_on("Fork two helpers.", blocks=True)

    for number in range(2):
        # It repeats its parent up to the message that led to the fork, without the reply to it.
        fork = main.fork(f"fork-{number}", at=len(main.messages) - 1)
        answer = fork.ask(
            [
                {"type": "tool_result", "tool_use_id": f"toolu_fork-{number}", "content": "forked"},
                {"type": "text", "text": f"Do part {number}."},
            ]
        )
        expect(
            cheap(answer, before),
            expected=f"a start from the {before} tokens repeated of its parent",
            actual=f"{answer.cost} prompt tokens read",
        )
        fork.goes_on("Go on.", blocks=True)
    main.goes_on("Third question.", blocks=True)


@requirement("MAP-3")
@needs("map")
@pytest.mark.usefixtures("mapping")
def test_a_subagent_of_a_subagent_starts_from_that_one(main: Thread) -> None:
    main.ask("First question.")
    middle = main.subagent("a-middle", system="You help. " * 14)
    middle.ask("Begin.")
    nested = middle.subagent("a-nested", system=middle.system)
    nested.messages, nested.size = middle.resumed().messages, middle.size

    nested.goes_on("Now you.")
    middle.goes_on("And you.", blocks=True)


@requirement("MAP-3")
@needs("map")
@pytest.mark.usefixtures("mapping")
def test_a_subagent_that_repeats_nothing_starts_from_nothing(main: Thread) -> None:
    main.ask("First question.")
    stranger = main.subagent("a-stranger", system="Nothing of this was said before. " * 8)

    answer = stranger.ask("Begin.")

    arranged(answer.reply.usage is not None, "no usage")
    expect(
        not cheap(answer, stranger.size),
        expected="a subagent with a history of its own to be read from its beginning",
        actual=f"only {answer.cost} prompt tokens read",
    )


def _family(main: Thread) -> list[Thread]:
    """The main conversation, two of its subagents, and another session's with the same id."""
    other = Thread(main.client, new_session(), hints=main.hints)
    helpers = [main.subagent("a-1"), main.subagent("a-2"), other.subagent("a-1")]
    for number, helper in enumerate(helpers):
        helper.system = f"Helper {number} of {helper.session}. " + "Be exact. " * 14
    threads = [main, *helpers]
    for thread in threads:
        thread.ask("Begin.")
    return threads


def _all_at_once(threads: list[Thread], question: str) -> None:
    together(*[partial(thread.goes_on, question) for thread in threads])
