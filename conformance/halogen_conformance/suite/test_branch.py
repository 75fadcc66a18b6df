"""BRANCH-1 to BRANCH-3, BRANCH-5: going on from inside a kept reply, on each route."""

from __future__ import annotations

from dataclasses import replace

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, MESSAGES, RESPONSES, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import (
    arranged_cheap,
    arranged_difference,
    arranged_forks,
    arranged_join,
    arranged_move,
    arranged_twins,
)
from halogen_conformance.suite.branching import Branch, branches, expect_goes_on
from halogen_conformance.suite.cost import expect_only_new
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
from halogen_conformance.suite.marks import requirement
from halogen_conformance.suite.twin import arranged_twin, ask_twin, expect_twin
from halogen_conformance.target.settings import Declared

ROWS = [
    pytest.param(
        route,
        streaming,
        id=f"{route}-stream" if streaming else route,
        marks=requirement(f"BRANCH-{number}"),
    )
    for number, route in enumerate((CHAT.route, MESSAGES.route, RESPONSES.route), start=1)
    for streaming in (False, True)
]
"""Each route has a row of its own."""


@pytest.mark.parametrize(("route", "streaming"), ROWS)
def test_the_beginning_of_a_reply_is_used_and_continued(
    client: Client, driver: Driver, options: Options, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared, options)
    arranged_forks(client, driver, options)
    for branch in branches(client, driver, new_name("kept"), options):
        twin = ask_twin(client, driver, branch.history, options)

        answer = client.ask(driver, branch.history, options, start=branch.kept.name)

        expect_goes_on(answer, branch)
        expect_twin(answer, twin, declared)
        whole = client.ask(driver, branch.kept.then("Go on."), SHORT, start=branch.kept.name)
        expect_equal("X-Halogen-From for the whole reply, afterwards", said(whole), "used")


@pytest.mark.parametrize(("route", "streaming"), ROWS)
def test_what_precedes_the_branch_is_not_read_again(
    client: Client, driver: Driver, options: Options, new_name: NewName
) -> None:
    arranged_forks(client, driver, options)
    arranged_cheap(client, driver, options)
    branch = branches(client, driver, new_name("kept"), options, long=True)[-1]
    usage = branch.kept.answer.reply.usage
    if usage is None:
        raise NotOffered("the answer has no usage, so its cost cannot be seen")

    answer = client.ask(driver, branch.history, options, start=branch.kept.name)

    expect_goes_on(answer, branch)
    # The state before the reply is what can be shared at the least.
    before = replace(usage, output=0)
    start = replace(branch.kept.answer, reply=replace(branch.kept.answer.reply, usage=before))
    expect_only_new(answer, replace(branch.kept, answer=start), "the branch")


def grown_by(client: Client, driver: Driver, base: Conversation, longer: Conversation) -> int:
    """How many prompt tokens a history has more than another one."""
    sizes = []
    for history in (base, longer):
        usage = ask_twin(client, driver, history, SHORT).reply.usage
        if usage is None:
            raise NotOffered("the answer has no usage, so sizes cannot be compared")
        sizes.append(usage.prompt)
    return sizes[1] - sizes[0]


@requirement("BRANCH-1")
def test_the_flag_leaves_the_message_open(client: Client, new_name: NewName) -> None:
    """Without the flag a last assistant message is a finished turn: its end and the beginning of
    a new one are in the prompt. A server that ignores the flag has the same prompt for both."""
    arranged_forks(client, CHAT)
    base = fresh(new_name("open"))
    part = "The colour that comes to mind is"
    opened = grown_by(client, CHAT, base, base.branch(part))
    closing = base.assistant(part)
    flagless = client.ask(CHAT, closing, SHORT)
    if not flagless.ok:
        raise NotOffered(f"without the flag it is refused: {flagless.story}")

    closed = grown_by(client, CHAT, base, closing)

    expect(
        opened < closed,
        expected=f"a smaller prompt with the flag than the {closed} tokens more without it",
        actual=f"{opened} tokens more",
    )


@pytest.mark.parametrize(
    "route",
    [
        pytest.param(MESSAGES.route, marks=requirement("BRANCH-2")),
        pytest.param(RESPONSES.route, marks=requirement("BRANCH-3")),
    ],
)
def test_a_final_message_is_left_open_as_on_chat(
    client: Client, driver: Driver, new_name: NewName
) -> None:
    """These routes have no flag to compare with; the same words add as much as on Chat."""
    arranged_forks(client, driver)
    base = fresh(new_name("open"))
    part = "The colour that comes to mind is"
    on_chat = grown_by(client, CHAT, base, base.branch(part))
    arranged(
        on_chat < grown_by(client, CHAT, base, base.assistant(part)),
        "Chat Completions does not leave a message open either",
    )

    here = grown_by(client, driver, base, base.branch(part))

    expect_equal("tokens that the beginning adds to the prompt", here, on_chat)


def keep_branch(
    client: Client, driver: Driver, branch: Branch, name: str, declared: Declared
) -> Kept:
    """Keep what goes on after a beginning; the history has both as one message."""
    answer = client.ask(driver, branch.history, SHORT, start=branch.kept.name, keep=name)
    arranged_used(answer, "the beginning of the kept reply")
    twin = ask_twin(client, driver, branch.history, SHORT)
    arranged_twin(answer, twin, declared, "the branch that is kept")
    one = branch.kept.before.assistant(branch.part + answer.reply.text)
    return Kept(name, one, answer)


@requirement("BRANCH-5")
@pytest.mark.parametrize("route", tuple(DRIVERS))
def test_a_kept_branch_is_one_reply(
    client: Client, driver: Driver, new_name: NewName, declared: Declared
) -> None:
    arranged_twins(client, driver, declared)
    arranged_forks(client, driver)
    arranged_join(client, driver)
    arranged_difference(client, driver)
    for number, branch in enumerate(branches(client, driver, new_name("kept"))):
        name = new_name(f"branch{number}")
        kept = keep_branch(client, driver, branch, name, declared)
        history = kept.then("And on?")
        twin = ask_twin(client, driver, history, SHORT)

        answer = client.ask(driver, history, SHORT, start=name)

        expect_equal("X-Halogen-From for beginning and continuation", said(answer), "used")
        expect_twin(answer, twin, declared)
        alone = branch.kept.before.plus(kept.answer.reply.turn()).user("And on?")
        torn = client.ask(driver, alone, SHORT, start=name)
        expect_unmatched("the continuation alone", torn)
        old = client.ask(driver, branch.kept.then("And on?"), SHORT, start=branch.kept.name)
        expect_equal("X-Halogen-From for the reply branched from", said(old), "used")


@requirement("BRANCH-5")
def test_a_branch_of_a_branch(client: Client, new_name: NewName, declared: Declared) -> None:
    """The beginning that was sent may be cut again, and so may the seam behind it."""
    arranged_twins(client, CHAT, declared)
    arranged_forks(client, CHAT)
    arranged_join(client, CHAT)
    branch = branches(client, CHAT, new_name("kept"))[-1]
    name = new_name("branch")
    kept = keep_branch(client, CHAT, branch, name, declared)

    earlier = branch.part[: max(1, len(branch.part) // 2)].rstrip()
    arranged(bool(earlier), "the beginning is blank")
    for part in (earlier, branch.part):
        history = branch.kept.before.branch(part)
        answer = client.ask(CHAT, history, SHORT, start=name)
        expect_equal(f"X-Halogen-From for {part!r} of a kept branch", said(answer), "used")
        expect_twin(answer, ask_twin(client, CHAT, history, SHORT), declared)
    last = client.ask(CHAT, kept.then("And on?"), SHORT, start=name)
    expect_equal("X-Halogen-From for the kept branch, afterwards", said(last), "used")


@requirement("BRANCH-5")
def test_keeping_a_branch_under_the_name_it_came_from(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    """Retry from the middle, and the retry takes the first attempt's place."""
    arranged_forks(client, CHAT)
    arranged_move(client, CHAT)
    branch = branches(client, CHAT, new_name("kept"))[0]
    kept = keep_branch(client, CHAT, branch, branch.kept.name, declared)

    answer = client.ask(CHAT, kept.then("And on?"), SHORT, start=kept.name)

    expect_equal("X-Halogen-From for the retry", said(answer), "used")
    handles = client.names()
    if handles is not None and handles.names is not None:
        once = handles.names.count(kept.name) <= 1
        expect(once, expected="no second entry of the name in the list", actual=handles.body)


@requirement("BRANCH-5")
def test_a_beginning_that_starts_cold_is_kept_with_its_continuation(
    client: Client, new_name: NewName
) -> None:
    """No start at all: the words put into the model's mouth are the client's own."""
    arranged_forks(client, CHAT)
    name = new_name("cold")
    history = fresh(name).branch("The colour that comes to mind is")
    answer = client.ask(CHAT, history, SHORT, keep=name)
    arranged(answer.ok, f"a beginning is not continued: {answer.story}")
    whole = f"The colour that comes to mind is{answer.reply.text}"

    again = client.ask(CHAT, fresh(name).assistant(whole).user("Why?"), SHORT, start=name)

    expect_equal("X-Halogen-From for beginning and continuation", said(again), "used")


@requirement("BRANCH-1")
def test_a_conversation_kept_later_is_branched_in_its_last_reply(
    client: Client, new_name: NewName, declared: Declared
) -> None:
    """The second turn's reply, in a state that was moved forward."""
    arranged_twins(client, CHAT, declared)
    arranged_forks(client, CHAT)
    name = new_name("forward")
    first = keep(client, CHAT, fresh(name), SHORT, name)
    history = first.then("Count from one to twenty in words.")
    second = keep(client, CHAT, history, replace(SHORT, max_tokens=16), name, start=name)
    cut = second.reply.rstrip().rfind(" ")
    part = second.reply[:cut].rstrip() if cut > 0 else ""
    if not part:
        raise NotOffered(f"the reply has no two words: {second.reply!r}")

    answer = client.ask(CHAT, history.branch(part), SHORT, start=name)

    expect_equal("X-Halogen-From for the branch in the second reply", said(answer), "used")
    expect_twin(answer, ask_twin(client, CHAT, history.branch(part), SHORT), declared)
