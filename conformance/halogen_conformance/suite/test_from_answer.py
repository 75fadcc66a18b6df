"""FROM-6: the session headers decide how soon an answer comes, never what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, MESSAGES, RESPONSES, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import NotOffered
from halogen_conformance.suite.basics import arranged_difference
from halogen_conformance.suite.kept import SHORT, NewName, arranged_used, fresh, keep
from halogen_conformance.suite.marks import requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared


@requirement("FROM-6")
@x3
def test_every_outcome_has_the_twins_answer(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_difference(client, driver)
    name, never = new_name("kept"), new_name("never")
    first = fresh(name)
    twin = ask_twin(client, driver, first, options)
    kept = keep(client, driver, first, options, name)
    expect_twin(kept.answer, twin, declared, "when it is kept")
    history = kept.then("And another one?")
    other = fresh(new_name("other"))

    cases = {
        "started from the kept name": (history, name, None),
        "started and kept": (history, name, new_name("forward")),
        "from an unknown name": (history, never, None),
        "from a name with another history": (other, name, None),
    }
    for what, (asked, start, keep_name) in cases.items():
        twin = ask_twin(client, driver, asked, options)
        answer = client.ask(driver, asked, options, start=start, keep=keep_name)
        if what == "started from the kept name":
            arranged_used(answer, "what was kept")
        expect_twin(answer, twin, declared, what)


SAMPLING: dict[str, Options] = {
    "a seed": Options(max_tokens=8, temperature=0.9, seed=11),
    "another limit": Options(max_tokens=3),
    "one token": Options(max_tokens=1),
    "a stop string": Options(max_tokens=8, stop=("e",)),
    "two stop strings": Options(max_tokens=8, stop=(" the", "a")),
}


@requirement("FROM-6")
@pytest.mark.parametrize(
    ("options", "route"),
    [
        pytest.param(options, route.route, id=f"{what}-{route.route}")
        for what, options in SAMPLING.items()
        # Messages has no seed, Responses has no stop strings.
        for route in (CHAT, MESSAGES, RESPONSES)
        if not (options.seed and route is not CHAT) and not (options.stop and route is RESPONSES)
    ],
)
def test_options_mean_the_same_after_a_start(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    name = new_name("kept")
    # Kept by an ordinary request: how a reply ended is KEEP-2's question.
    kept = keep(client, driver, fresh(name), SHORT, name)
    history = kept.then("And another one?")
    twin = ask_twin(client, driver, history, options)

    answer = client.ask(driver, history, options, start=name)

    arranged_used(answer, "what was kept")
    expect_twin(answer, twin, declared)


@requirement("FROM-6")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_streamed_and_whole_answers_after_a_start_are_one(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    name = new_name("kept")
    streamed = Options(max_tokens=8, stream=True)
    kept = keep(client, driver, fresh(name), streamed, name)
    history = kept.then("And another one?")

    whole = client.ask(driver, history, replace(streamed, stream=False), start=name)
    stream = client.ask(driver, history, streamed, start=name)

    arranged_used(whole, "what was kept by a stream")
    arranged_used(stream, "what was kept by a stream")
    expect_twin(stream, whole, declared, "streamed")


@requirement("FROM-6")
def test_text_of_many_scripts_survives_the_start(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    name = new_name("kept")
    history = (
        Conversation()
        .system(f"{name}: Antworte kürzer.")
        .user("色の名前を一つ 🎨👩‍👩‍👧 naïve e\u0301")
    )
    options = Options(max_tokens=10)
    kept = keep(client, CHAT, history, options, name)
    longer = kept.then("もう一つ 🦊?")
    answer = client.ask(CHAT, longer, options, start=name)
    arranged_used(answer, "what was kept")
    expect_twin(answer, ask_twin(client, CHAT, longer, options), declared)


@requirement("FROM-6")
def test_greedy_answers_repeat_themselves(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    """What `deterministic` promises: without it the comparisons above are of sizes only."""
    if not declared.deterministic:
        raise NotOffered("not declared deterministic: texts are not compared, sizes are")
    history = fresh(new_name("twice"))
    first, second = (ask_twin(client, CHAT, history, Options()) for _ in range(2))
    expect_twin(second, first, declared, "asked twice")
