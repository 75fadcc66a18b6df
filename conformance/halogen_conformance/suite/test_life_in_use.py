"""LIFE-6: a name goes while a request that started from it still runs."""

from __future__ import annotations

from functools import partial

from halogen_conformance.drivers import CHAT, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client, together
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.outcomes import NotOffered, arranged
from halogen_conformance.suite.basics import arranged_difference, arranged_twins
from halogen_conformance.suite.kept import SHORT, Kept, NewName, fresh, keep
from halogen_conformance.suite.listing import handles_of
from halogen_conformance.suite.marks import needs, requirement, x3
from halogen_conformance.suite.twin import ask_twin, expect_twin
from halogen_conformance.target.settings import Declared
from halogen_conformance.target.target import Running

TINY = Options(max_tokens=2)
LONG = Options(max_tokens=48, stream=True)
QUESTION = "Go on counting for as long as you can: 1, 2, 3,"


def push_out(client: Client, server: Running, new_name: NewName, word: str) -> Answer:
    """Keep so many other names that every name before them has lost its place; the last answer."""
    names = [new_name(f"{word}-{number}") for number in range(server.handles or 1)]
    return [keep(client, CHAT, fresh(name), TINY, name) for name in names][-1].answer


@requirement("LIFE-6")
@needs("cap")
@x3
def test_released_while_in_use(
    client: Client,
    driver: Driver,
    streaming: bool,
    server: Running,
    new_name: NewName,
    declared: Declared,
) -> None:
    options = Options(max_tokens=LONG.max_tokens, stream=streaming)
    arranged_twins(client, driver, declared, options)
    name = new_name("plan")
    kept = keep(client, driver, fresh(name), SHORT, name)
    twin = ask_twin(client, driver, kept.then(QUESTION), options)

    answer, *_ = together(
        partial(_start, client, driver, kept, options),
        partial(push_out, client, server, new_name, "other"),
    )

    # Whichever came first, the start or the release: the answer is the right one.
    expect_twin(answer, twin, declared, f"(outcome {answer.outcome})")
    push_out(client, server, new_name, "more")
    arranged(not handles_of(client).has(name), f"{name} did not lose its place")


@requirement("LIFE-6")
@needs("cap")
def test_released_after_the_first_event(
    client: Client, server: Running, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, CHAT, declared, LONG)
    # A reply that is over before the others are kept has been the latest use: it keeps its place.
    for limit in (48, 400, 3000):
        kept = keep(client, CHAT, fresh(new_name("plan")), SHORT, new_name("plan"))
        options = Options(max_tokens=limit, stream=True)
        twin = ask_twin(client, CHAT, kept.then(QUESTION), options)

        answer = _pushed_out_meanwhile(client, server, new_name, kept, options)

        arranged(answer.outcome == "used", f"a name just kept is not used: {answer.story}")
        expect_twin(answer, twin, declared)
        if not handles_of(client).has(kept.name):
            return
    raise NotOffered("its replies are over too soon for a name to go meanwhile")


def _pushed_out_meanwhile(
    client: Client, server: Running, new_name: NewName, kept: Kept, options: Options
) -> Answer:
    seen: list[SseEvent] = []

    def on_event(event: SseEvent) -> bool:
        if not seen:
            push_out(client, server, new_name, "other")
        seen.append(event)
        return True

    return client.ask(CHAT, kept.then(QUESTION), options, start=kept.name, on_event=on_event)


@requirement("LIFE-6")
@needs("cap")
def test_replaced_while_in_use(client: Client, new_name: NewName, declared: Declared) -> None:
    arranged_twins(client, CHAT, declared, LONG)
    arranged_difference(client, CHAT)
    name = new_name("plan")
    kept = keep(client, CHAT, fresh(name), SHORT, name)
    twin = ask_twin(client, CHAT, kept.then(QUESTION), LONG)

    for _ in range(2):
        answer, _ = together(
            partial(_start, client, CHAT, kept, LONG),
            partial(_replace, client, name),
        )
        expect_twin(answer, twin, declared, f"(outcome {answer.outcome})")
        keep(client, CHAT, fresh(name), SHORT, name)


def _start(client: Client, driver: Driver, kept: Kept, options: Options) -> Answer:
    return client.ask(driver, kept.then(QUESTION), options, start=kept.name)


def _replace(client: Client, name: str) -> Answer:
    return keep(client, CHAT, fresh(f"{name}-another"), TINY, name).answer
