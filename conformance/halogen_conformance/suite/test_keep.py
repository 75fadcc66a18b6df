"""KEEP: a reply's end becomes a state with a name."""

from __future__ import annotations

from halogen_conformance.drivers import CHAT, MESSAGES, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options, session_headers
from halogen_conformance.drivers.messages import MessagesDriver
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_difference, arranged_forks, arranged_unknown
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
from halogen_conformance.suite.marks import needs, requirement, x3
from halogen_conformance.target.target import Running


@requirement("KEEP-1")
@x3
def test_what_was_kept_is_listed_and_used(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    name = new_name("kept")
    kept = keep(client, driver, fresh(name), options, name)

    handles = client.names()
    again = client.ask(driver, kept.then("And another one?"), options, start=name)

    if handles is not None:  # whether there is a list at all is LIST-1's question
        expect(handles.has(name), expected=f"{name} in the list", actual=handles.body)
    expect(again.ok, expected="an answer", actual=again.story)
    expect_equal("X-Halogen-From for the history that was kept", said(again), "used")


@requirement("KEEP-1")
def test_what_was_not_kept_is_not_there(client: Client, new_name: NewName) -> None:
    name = new_name("never")
    first = client.ask(CHAT, fresh(name), SHORT)
    arranged(first.ok, f"an ordinary request was not answered: {first.story}")
    history = fresh(name).plus(first.reply.turn(reasoning=True)).user("And another one?")

    again = client.ask(CHAT, history, SHORT, start=name)

    # The same two requests as in the test above, but for the one header.
    expect(said(again) != "used", expected="not used: nothing was kept", actual=again.story)


def _status_of_names(client: Client, kepts: list[Kept]) -> dict[str, str]:
    """What becomes of a start from each of them."""
    return {
        kept.name: said(client.ask(CHAT, kept.then("And another one?"), SHORT, start=kept.name))
        for kept in kepts
    }


@requirement("KEEP-3")
def test_keeping_again_replaces_the_state(client: Client, new_name: NewName) -> None:
    arranged_forks(client, CHAT)
    arranged_difference(client, CHAT)
    name, other = new_name("again"), new_name("other")
    old = keep(client, CHAT, fresh(f"{name}-old"), SHORT, name)
    bystander = keep(client, CHAT, fresh(other), SHORT, other)
    before = _status_of_names(client, [old, bystander])
    arranged(before == {name: "used", other: "used"}, f"what was kept is not used: {before}")

    new = keep(client, CHAT, fresh(f"{name}-new"), SHORT, name)

    after = _status_of_names(client, [new, bystander])
    expect_equal("outcomes for the new state and for another name", after, before)
    stale = client.ask(CHAT, old.then("And another one?"), SHORT, start=name)
    expect_unmatched("the replaced state", stale)
    handles = client.names()
    if handles is not None and handles.names is not None:
        once = handles.names.count(name) <= 1
        expect(once, expected="no second entry of the name in the list", actual=handles.body)


@requirement("KEEP-3")
@needs("cap")
def test_keeping_again_costs_no_name_its_place(
    client: Client, server: Running, new_name: NewName
) -> None:
    arranged_forks(client, CHAT)
    cap = server.handles
    if cap is None or not 2 <= cap <= 16:
        raise NotOffered(f"fills every place, so it needs a cap from 2 to 16, not {cap}")
    names = [new_name(f"place{number}") for number in range(cap)]
    kepts = [keep(client, CHAT, fresh(name), SHORT, name) for name in names]
    before = _status_of_names(client, kepts)
    live = [kept for kept in kepts if before[kept.name] == "used"]
    arranged(len(live) == cap, f"{cap} names kept, and not all are used: {before}")

    for turn in range(3):
        # The name used longest ago: a server that makes room first would take another's.
        keep(client, CHAT, fresh(f"{names[0]}-{turn}"), SHORT, names[0])

    others = live[1:]
    expect_equal(
        "outcomes for the names beside the one that was kept again",
        _status_of_names(client, others),
        {kept.name: "used" for kept in others},
    )


@requirement("KEEP-7")
def test_of_several_choices_the_first_is_kept(client: Client, new_name: NewName) -> None:
    name = new_name("choices")
    history = fresh(name).user("Invent a name for a cat.")
    several = Options(max_tokens=12, temperature=1.5, seed=7, n=2)
    answer = client.ask(CHAT, history, several, keep=name)
    if not answer.ok or len(answer.reply.others) != 1:
        raise NotOffered(f"two choices were asked for and not given: {answer.story}")
    first, second = answer.reply, answer.reply.others[0]
    if first.text == second.text:
        raise NotOffered("both choices have the same text")

    def outcome(turn: Conversation) -> str:
        return said(client.ask(CHAT, turn.user("And another one?"), SHORT, start=name))

    expect_equal("start after the first choice", outcome(history.plus(first.turn())), "used")
    expect_equal("start after the second", outcome(history.plus(second.turn())), "unmatched")


@requirement("KEEP-8")
def test_counting_tokens_keeps_nothing(client: Client, new_name: NewName) -> None:
    arranged_unknown(client, MESSAGES)
    live, never = new_name("live"), new_name("never")
    kept = keep(client, MESSAGES, fresh(live), SHORT, live)
    history = kept.then("And another one?")
    arranged_used(client.ask(MESSAGES, history, SHORT, start=live), "what was kept")
    count = MessagesDriver().count_request(history)
    plain = client.send(count)
    if plain.status != 200:
        raise NotOffered(f"count_tokens answers {plain.status}")

    for name in (live, never):
        counted = client.send(count.plus(*session_headers(name, live)))
        expect_equal("status of count_tokens with headers", counted.status, 200)
        expect_equal("its answer", counted.json(), plain.json())

    again = client.ask(MESSAGES, history, SHORT, start=live)
    expect_equal("X-Halogen-From for the live name", said(again), "used")
    stranger = client.ask(MESSAGES, history, SHORT, start=never)
    expect_equal("X-Halogen-From for a name only counted with", said(stranger), "unknown")
