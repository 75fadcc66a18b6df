"""When a request repeats a kept conversation: FROM-2, 4, 8, 9, 11, 12 and BRANCH-1, 4, 7."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from halogen_reference.call import Opening
from halogen_reference.conversation import (
    Assistant,
    Conversation,
    Item,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
    conversation,
)
from halogen_reference.sessions.matching import Inside, Match, Whole, match

REPLY, CONTINUE, BARE = Opening.REPLY, Opening.CONTINUE, Opening.BARE
LOOK = Tool("look")
CALL = ToolCall("c1", "look", '{"at":1}')
HEAD: list[Item] = [System("s"), User("u"), Assistant("a"), User("v")]
KEPT = conversation([*HEAD, Assistant("The sea is wide.")], [LOOK])
CALLED = conversation([*HEAD, Assistant("I look.", calls=(CALL,))], [LOOK])
THOUGHT = conversation([*HEAD, Assistant("Wide.", "Hm.")], [LOOK])
NEXT = User("next")


def ask(*items: Item) -> Conversation:
    return conversation(list(items), [LOOK])


@pytest.mark.parametrize(
    ("kept", "request_", "opening", "expected"),
    [
        pytest.param(KEPT, KEPT.plus(NEXT), REPLY, Whole(), id="FROM-2 goes on"),
        pytest.param(KEPT, KEPT, REPLY, Whole(), id="another turn of the model's"),
        pytest.param(KEPT, KEPT, BARE, Whole(), id="without a new turn"),
        pytest.param(KEPT, KEPT, CONTINUE, Inside(16), id="the whole reply, left open"),
        pytest.param(KEPT, ask(*HEAD), REPLY, None, id="FROM-4 shorter"),
        pytest.param(KEPT, ask(), REPLY, None, id="FROM-4 nothing"),
        pytest.param(KEPT, ask(*HEAD, NEXT), REPLY, None, id="FROM-4 no reply"),
        pytest.param(KEPT, replace(KEPT, tools=()), REPLY, None, id="FROM-4 tools gone"),
        pytest.param(
            KEPT, replace(KEPT, tools=(LOOK, Tool("b"))), REPLY, None, id="FROM-4 more tools"
        ),
        pytest.param(
            KEPT, replace(KEPT, tools=()), CONTINUE, None, id="BRANCH-4 other tools inside"
        ),
        pytest.param(
            CALLED, CALLED.plus(ToolResult("c1", "42")), REPLY, Whole(), id="FROM-11 result"
        ),
        pytest.param(
            CALLED,
            ask(*HEAD, Assistant("I look."), ToolResult("c1", "42")),
            REPLY,
            None,
            id="FROM-11 call left out",
        ),
        pytest.param(THOUGHT, THOUGHT.plus(NEXT), REPLY, Whole(), id="reasoning sent back"),
        pytest.param(
            THOUGHT, ask(*HEAD, Assistant("Wide."), NEXT), REPLY, None, id="FROM-12 left out"
        ),
        pytest.param(
            KEPT, ask(*HEAD, Assistant("The sea is ")), CONTINUE, Inside(11), id="BRANCH-1, 7"
        ),
        pytest.param(
            KEPT, ask(*HEAD, Assistant("The sea is ")), REPLY, None, id="a finished turn, shorter"
        ),
        pytest.param(KEPT, ask(*HEAD, Assistant("The lake")), CONTINUE, None, id="BRANCH-4"),
        pytest.param(
            KEPT, ask(*HEAD, Assistant("The sea is wide. And")), CONTINUE, None, id="BRANCH-4 more"
        ),
        pytest.param(
            KEPT,
            ask(System("S"), *HEAD[1:], Assistant("The")),
            CONTINUE,
            None,
            id="BRANCH-4 other history",
        ),
        pytest.param(
            CALLED, ask(*HEAD, Assistant("I lo")), CONTINUE, Inside(4), id="before the call"
        ),
        pytest.param(
            CALLED,
            ask(*HEAD, Assistant("I lo", calls=(CALL,))),
            CONTINUE,
            None,
            id="a call after another text",
        ),
        pytest.param(
            THOUGHT, ask(*HEAD, Assistant("Wi", "Hm.")), CONTINUE, Inside(2), id="with reasoning"
        ),
        pytest.param(
            THOUGHT, ask(*HEAD, Assistant("Wi")), CONTINUE, None, id="FROM-12 inside a reply"
        ),
        pytest.param(
            KEPT,
            ask(*HEAD, Assistant("The sea is wide."), NEXT, Assistant("Yes, and")),
            CONTINUE,
            Whole(),
            id="the open turn is a later one",
        ),
    ],
)
def test_table(
    kept: Conversation, request_: Conversation, opening: Opening, expected: Match | None
) -> None:
    assert match(kept, request_, opening) == expected


TEXTS = st.text("ab \n", max_size=3)
CALLS = st.lists(
    st.builds(ToolCall, st.sampled_from(["1", "2"]), st.just("f"), st.sampled_from(["{}", "[]"])),
    max_size=2,
).map(tuple)
TURNS = st.builds(Assistant, TEXTS, st.none() | TEXTS, CALLS)
ITEMS: st.SearchStrategy[Item] = st.one_of(
    st.builds(System, TEXTS),
    st.builds(User, TEXTS),
    TURNS,
    st.builds(ToolResult, TEXTS, TEXTS, st.booleans()),
)
HISTORIES = st.lists(ITEMS, max_size=5).map(lambda items: Conversation(tuple(items)))
STATES = st.builds(Conversation.plus, HISTORIES, TURNS)
MORE = st.lists(ITEMS, max_size=3)


@given(STATES, MORE, st.sampled_from([REPLY, BARE]))
def test_every_extension_matches(kept: Conversation, more: list[Item], opening: Opening) -> None:
    request = Conversation((*kept.items, *more), kept.tools)
    assert match(kept, request, opening) == Whole()


@given(STATES, MORE, ITEMS, st.data())
def test_no_edit_matches(
    kept: Conversation, more: list[Item], other: Item, data: st.DataObject
) -> None:
    """FROM-4: any one item changed, wherever it is in the kept part."""
    at = data.draw(st.integers(0, len(kept.items) - 1))
    assume(other != kept.items[at])
    items = [*kept.items, *more]
    items[at] = other
    assert match(kept, Conversation(tuple(items)), REPLY) is None


@given(STATES, st.data())
def test_no_beginning_matches(kept: Conversation, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(kept.items) - 1))
    opening = data.draw(st.sampled_from(Opening))
    shorter = Conversation(kept.items[:count])
    assert match(kept, shorter, opening) is None


@given(STATES, MORE, st.data())
def test_no_omission_matches(kept: Conversation, more: list[Item], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(kept.items) - 1))
    items = (*kept.items[:at], *kept.items[at + 1 :], *more)
    assume(items[: len(kept.items)] != kept.items)
    assert match(kept, Conversation(items), REPLY) is None


@given(HISTORIES, st.builds(Assistant, st.text("ab", max_size=6)), st.text("ab", max_size=6))
def test_only_a_beginning_branches(history: Conversation, reply: Assistant, partial: str) -> None:
    request = history.plus(Assistant(partial))
    expected = Inside(len(partial)) if reply.text.startswith(partial) else None
    assert match(history.plus(reply), request, CONTINUE) == expected
