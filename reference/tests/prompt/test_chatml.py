"""The pieces of an ordinary prompt: the same text, cut at every message's edge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from halogen_reference.call import Opening
from halogen_reference.conversation import (
    Assistant,
    Conversation,
    Item,
    System,
    User,
    conversation,
)
from halogen_reference.prompt import ChatTemplate, Piece, Seam, after
from tests.prompt.templates import BEGIN, CHATML

TEMPLATE = ChatTemplate(CHATML)
PLAIN = Environment(trim_blocks=True, lstrip_blocks=True).from_string(CHATML)
ROLES = {System: "system", User: "user", Assistant: "assistant"}

# Control tokens, tags and template syntax, whole and in parts, beside any other characters.
TEXTS = st.lists(
    st.sampled_from(["<|im_end|>", "<|im_start|>", "\n", "{{ x }}", "{% if %}", "</think>", ":0s;"])
    | st.text(max_size=6),
    max_size=4,
).map("".join)
ITEMS: st.SearchStrategy[Item] = st.one_of(
    st.builds(System, TEXTS), st.builds(User, TEXTS), st.builds(Assistant, TEXTS)
)
HISTORIES = st.lists(ITEMS, max_size=6).map(conversation)
ENDED = st.tuples(HISTORIES, TEXTS).map(lambda drawn: drawn[0].plus(Assistant(drawn[1])))

STORY = conversation([User("one"), Assistant("two"), User("three"), Assistant("four")])


def text(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces)


def plain(history: Conversation, *, opened: bool) -> str:
    """What Jinja2 alone makes of it."""
    messages = [{"role": ROLES[type(item)], "content": item.text} for item in history.items]
    return PLAIN.render(messages=messages, add_generation_prompt=opened)


@given(HISTORIES, st.sampled_from([Opening.REPLY, Opening.BARE]))
def test_the_pieces_are_the_template_s_own_text(history: Conversation, opening: Opening) -> None:
    """And no mark is left in any of them."""
    rendered = TEMPLATE.render(history, opening)
    assert text(rendered) == plain(history, opened=opening is Opening.REPLY)


@given(ENDED)
def test_continuing_ends_exactly_at_the_partial_text(history: Conversation) -> None:
    """BRANCH-7: white space at the end included."""
    rendered = text(TEMPLATE.render(history, Opening.CONTINUE))
    last = history.items[-1]
    assert rendered == plain(history, opened=False).removesuffix("<|im_end|>\n")
    assert rendered.endswith(f"<|im_start|>assistant\n{last.text}")


@given(HISTORIES)
def test_a_client_s_text_is_never_special(history: Conversation) -> None:
    """Whatever it spells, its pieces are plain; the template's own are not."""
    rendered = TEMPLATE.render(history)
    contents = [piece.text for piece in rendered if not piece.special]
    assert contents == [
        item.text for item in history.items if item.text or isinstance(item, Assistant)
    ]
    for piece in rendered:
        assert not piece.special or piece.text.count("<|im_start|>") <= 2


@given(ENDED, HISTORIES)
def test_every_turn_has_both_seams(history: Conversation, more: Conversation) -> None:
    whole = conversation([*history.items, *more.items])
    rendered = TEMPLATE.render(whole)
    seams = [piece.seam for piece in rendered if piece.seam is not None]
    turns = [index for index, item in enumerate(whole.items) if isinstance(item, Assistant)]
    opened = Seam(len(whole.items), False)
    assert seams == [Seam(turn, end) for turn in turns for end in (False, True)] + [opened]


@given(ENDED, HISTORIES)
def test_the_text_after_a_seam(history: Conversation, more: Conversation) -> None:
    """Up to the end of a turn, and from there on, is the whole prompt."""
    turn = len(history.items) - 1
    longer = conversation([*history.items, *more.items])
    rest = after(TEMPLATE.render(longer), Seam(turn, True))
    assert rest is not None
    head = TEMPLATE.render(history, Opening.CONTINUE)
    assert text(head) + text(rest) == plain(longer, opened=True)


def test_after_an_unknown_seam_is_nothing() -> None:
    rendered = TEMPLATE.render(STORY)
    assert after(rendered, Seam(0, True)) is None, "a user's text has no seam"
    assert after(rendered, Seam(9, True)) is None
    assert after((*rendered, *rendered), Seam(1, True)) is None, "not the only one"


@pytest.mark.parametrize(
    ("opening", "last"),
    [
        (Opening.REPLY, Piece("<|im_end|>\n<|im_start|>assistant\n", True, Seam(4, False))),
        (Opening.BARE, Piece("<|im_end|>\n", True, None)),
        (Opening.CONTINUE, Piece("four", False, Seam(3, True))),
    ],
)
def test_how_a_prompt_ends(opening: Opening, last: Piece) -> None:
    assert TEMPLATE.render(STORY, opening)[-1] == last


def test_a_seam_of_an_empty_turn() -> None:
    """An empty reply can be continued (KEEP-2)."""
    rendered = TEMPLATE.render(conversation([User("one"), Assistant(""), User("go on")]))
    at = [piece.seam for piece in rendered].index(Seam(1, True))
    assert rendered[at] == Piece("", False, Seam(1, True))


@pytest.mark.parametrize("source", [CHATML, BEGIN])
def test_every_prompt_begins_with_the_prefix_once(source: str) -> None:
    template = ChatTemplate(source, {"bos_token": "<s>"}, prefix="<s>")
    rendered = text(template.render(STORY))
    assert rendered == "<s>" + plain(STORY, opened=True)


def test_without_a_prefix_nothing_is_added() -> None:
    assert text(ChatTemplate(BEGIN, {"bos_token": ""}).render(STORY)) == plain(STORY, opened=True)


def test_a_client_s_text_is_not_the_prefix() -> None:
    """A template without a beginning of its own, and a text that spells the begin token."""
    template = ChatTemplate("{{ messages[0]['content'] }}", prefix="<s>")
    first, second = template.render(conversation([User("<s>hi")]))[:2]
    assert (first.text, first.special) == ("<s>", True)
    assert (second.text, second.special) == ("<s>hi", False)
