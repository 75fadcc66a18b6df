"""The canonical form of a history: what merges, what stays, what is equal."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.conversation import (
    Assistant,
    Item,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
    canonical_arguments,
    conversation,
)

CALL = ToolCall("c1", "look", '{"at":1}')


@pytest.mark.parametrize(
    ("given_items", "kept"),
    [
        ([System("a"), System("b"), User("u")], [System("a\nb"), User("u")]),
        ([System(""), User("u")], [User("u")]),
        ([System("a"), System(""), System("b")], [System("a\nb")]),
        # In mid-conversation it stays where it is: it does not join the first.
        ([System("a"), User("u"), System("b")], [System("a"), User("u"), System("b")]),
        ([User("u"), System("a"), System("b")], [User("u"), System("a\nb")]),
        # Only system texts merge, and only they go when empty.
        ([User("u"), User("v")], [User("u"), User("v")]),
        ([User(""), Assistant("")], [User(""), Assistant("")]),
        ([Assistant("a"), Assistant("b")], [Assistant("a"), Assistant("b")]),
        ([], []),
    ],
)
def test_system_texts(given_items: list[Item], kept: list[Item]) -> None:
    assert conversation(given_items).items == tuple(kept)


TEXTS = st.text(max_size=3)
ITEMS: st.SearchStrategy[Item] = st.one_of(
    st.builds(System, TEXTS),
    st.builds(User, TEXTS),
    st.builds(Assistant, TEXTS, st.none() | TEXTS, st.sampled_from([(), (CALL,)])),
    st.builds(ToolResult, TEXTS, TEXTS, st.booleans()),
)


@given(st.lists(ITEMS, max_size=8))
def test_the_form_is_reached_in_one_step(items: list[Item]) -> None:
    once = conversation(items)
    assert conversation(list(once.items)) == once
    pairs = list(zip(once.items, once.items[1:], strict=False))
    assert not any(isinstance(a, System) and isinstance(b, System) for a, b in pairs)
    assert System("") not in once.items


@given(st.lists(ITEMS, max_size=8))
def test_nothing_but_empty_systems_is_lost(items: list[Item]) -> None:
    """Every text that went in is in the result, in order."""
    kept = "\n".join(item.text for item in conversation(items).items)
    at = 0
    for item in items:
        text = item.text.rstrip("\n")  # see test_line_breaks_before_a_call
        at = kept.index(text, at) + len(text)


@pytest.mark.parametrize("spelled", ["", "\n", "\n\n"])
def test_line_breaks_before_a_call(spelled: str) -> None:
    """They separate the text from the call; clients send them back or do not."""
    said = conversation([Assistant(f"I look.{spelled}", calls=(CALL,))])
    assert said == conversation([Assistant("I look.", calls=(CALL,))])
    assert conversation([Assistant("I look.\n")]) != conversation([Assistant("I look.")])


BASE = conversation(
    [
        System("s"),
        User("u"),
        Assistant("a", "r", (CALL,)),
        ToolResult("c1", "42"),
        Assistant("done"),
    ],
    [Tool("look", "Looks.", '{"type":"object"}')],
)


@pytest.mark.parametrize(
    ("index", "item"),
    [
        (0, System("S")),
        (1, User("u ")),
        (1, System("u")),
        (2, Assistant("a", "r", ())),
        (2, Assistant("a", None, (CALL,))),
        (2, Assistant("a", "", (CALL,))),
        (2, Assistant("a", "r", (replace(CALL, id="c2"),))),
        (2, Assistant("a", "r", (replace(CALL, name="see"),))),
        (2, Assistant("a", "r", (replace(CALL, arguments='{"at":2}'),))),
        (2, Assistant("a", "r", (CALL, CALL))),
        (3, ToolResult("c2", "42")),
        (3, ToolResult("c1", "43")),
        (3, ToolResult("c1", "42", True)),
        (4, Assistant("done.")),
    ],
)
def test_a_changed_value_is_another_conversation(index: int, item: Item) -> None:
    """FROM-4, FROM-8."""
    items = list(BASE.items)
    items[index] = item
    assert conversation(items, list(BASE.tools)) != BASE


@pytest.mark.parametrize(
    "tools",
    [
        [],
        [Tool("look", "Looks", '{"type":"object"}')],
        [Tool("Look", "Looks.", '{"type":"object"}')],
        [Tool("look", "Looks.", "{}")],
        [*BASE.tools, *BASE.tools],
    ],
)
def test_other_tools_are_another_conversation(tools: list[Tool]) -> None:
    assert conversation(list(BASE.items), tools) != BASE


def test_another_spelling_of_arguments_is_the_same_conversation() -> None:
    spelled = replace(CALL, arguments=canonical_arguments('{ "at": 1.0 }'))
    items: list[Item] = [*BASE.items[:2], Assistant("a", "r", (spelled,)), *BASE.items[3:]]
    again = conversation(items, list(BASE.tools))
    assert again == BASE and hash(again) == hash(BASE)


def test_plus_leaves_the_original_as_it_was() -> None:
    longer = BASE.plus(User("more"))
    assert longer.items == (*BASE.items, User("more")) and longer.tools == BASE.tools
    assert len(BASE.items) == 5
