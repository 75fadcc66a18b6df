"""MAP: side requests, compactions and strangers on a session leave its conversation alone."""

from __future__ import annotations

from functools import partial

import pytest

from halogen_conformance.drivers.client import together
from halogen_conformance.outcomes import arranged, expect
from halogen_conformance.suite.claude_code import Thread, cheap
from halogen_conformance.suite.marks import hinted, needs, requirement

pytestmark = pytest.mark.usefixtures("mapping")


@requirement("MAP-4")
@needs("map")
@hinted
def test_a_title_before_the_first_turn(main: Thread) -> None:
    title = main.title()
    expect(title.ok, expected="a title, as usual", actual=title.story)
    main.ask("First question.")

    main.goes_on("Second question.")


@requirement("MAP-4")
@needs("map")
@hinted
def test_side_requests_between_the_turns(main: Thread) -> None:
    main.ask("First question.")
    for number in range(3):
        answers = [main.title(), main.title(), main.probe()]
        counted = main.count()

        for answer in answers:
            expect(answer.ok, expected="a side request answered", actual=answer.story)
        expect(counted.status == 200, expected="status 200 for a count", actual=counted.status)
        main.goes_on(f"Question {number}.")


@requirement("MAP-4")
@needs("map")
@hinted
def test_side_requests_while_a_turn_runs(main: Thread) -> None:
    main.ask("First question.")
    for number in range(3):
        together(partial(main.goes_on, f"Question {number}."), main.title, main.title, main.probe)
    main.goes_on("Last question.")


@requirement("MAP-4")
@needs("map")
@hinted
def test_a_recap_that_looks_like_the_next_turn(main: Thread) -> None:
    main.ask("First question.")
    for number in range(4):
        recap = main.aside("Recap in one line what was said.")
        arranged(recap.ok, f"a recap was not answered: {recap.story}")

        main.goes_on(f"Question {number}.")


@requirement("MAP-8")
@needs("map")
@hinted
def test_a_compaction_costs_one_match(main: Thread) -> None:
    main.ask("First question.")
    main.goes_on("Second question.", blocks=True)
    summary = main.aside("Summarise everything.", "compaction")
    arranged(summary.ok, f"the compaction was not answered: {summary.story}")

    main.messages = [{"role": "user", "content": "This is what was said so far. " * 8}]
    main.ask("Third question.")

    main.goes_on("Fourth question.")
    main.goes_on("Fifth question.")


@requirement("MAP-9")
@needs("map")
@hinted
def test_an_older_copy_does_not_cost_the_live_one_its_state(main: Thread) -> None:
    main.ask("First question.")
    older = main.resumed()
    for number in range(2):
        main.goes_on(f"Question {number}.", blocks=True)

    stale = older.request([*older.messages, {"role": "user", "content": "From an older copy."}])

    expect(stale.ok, expected="an answer to the older copy", actual=stale.story)
    main.goes_on("The live one again.")


@requirement("MAP-9")
@needs("map")
@hinted
def test_strangers_on_the_session_do_not_cost_it_its_state(main: Thread) -> None:
    main.ask("First question.")
    main.goes_on("Second question.", blocks=True)
    for number in range(6):
        # A workflow agent without an id of its own: it looks like the main conversation.
        question = f"Something else entirely, number {number}. " * 6
        stranger = main.request([{"role": "user", "content": question}], "workflow")
        arranged(stranger.ok, f"a stranger was not answered: {stranger.story}")
        arranged(
            not cheap(stranger, main.size), "a request of another history cost next to nothing"
        )

    main.goes_on("Third question.")
