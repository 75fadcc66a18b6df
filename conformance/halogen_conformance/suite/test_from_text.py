"""FROM-9: the reply is matched as the text the client saw, whatever its tokens were.

Sampled hot, with other seeds each time, a model spells words as its tokeniser would not.
"""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import expect
from halogen_conformance.suite.basics import arranged_cheap, arranged_forks
from halogen_conformance.suite.cost import expect_only_new
from halogen_conformance.suite.kept import SHORT, NewName, arranged_used, keep, long_history, said
from halogen_conformance.suite.marks import requirement

QUESTIONS = (
    "Write a short list with dashes.",
    "Write a tiny program with indented lines.",
    "Answer with emoji and rare words.",
    "Draw a small table out of signs.",
)


@requirement("FROM-9")
@pytest.mark.parametrize("streaming", [False, True], ids=["", "stream"])
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_reply_sent_back_to_the_letter_is_used(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    """Every seed on its own name: one failure in twenty is still a failure."""
    arranged_forks(client, driver, options)
    name = new_name("hot")
    plain = Options(max_tokens=8, stream=options.stream)
    control = keep(client, driver, long_history(name).cut(1).user("Hello."), plain, name)
    arranged_used(client.ask(driver, control.then("Go on."), SHORT, start=name), "a plain reply")

    seeds = (2, 3) if options.stream else (0, 1)
    for seed in seeds:
        name = new_name(f"hot{seed}")
        hot = Options(max_tokens=20, temperature=1.5, seed=seed, stream=options.stream)
        if driver.route == "messages":  # this route has no seed
            hot = Options(max_tokens=20, temperature=1.0, stream=options.stream)
        # The name is the question's first word: the same question twice is asked in two ways.
        history = control.history.user(f"{name}: {QUESTIONS[seed]}")
        kept = keep(client, driver, history, hot, name, start=control.name)

        answer = client.ask(driver, kept.then("And another?"), SHORT, start=name)

        expect(
            said(answer) == "used",
            expected=f"used after the reply {kept.reply!r}",
            actual=answer.story,
        )


@requirement("FROM-9")
def test_and_its_tokens_are_not_read_again(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    arranged_cheap(client, CHAT)
    for seed in range(3):
        name = new_name(f"hot{seed}")
        hot = Options(max_tokens=48, temperature=1.5, seed=seed)
        kept = keep(client, CHAT, long_history(name).user(QUESTIONS[seed]), hot, name)

        answer = client.ask(CHAT, kept.then("And another?"), SHORT, start=name)

        arranged_used(answer, f"a reply kept with seed {seed}")
        expect_only_new(answer, kept, f"after the reply {kept.reply!r}")
