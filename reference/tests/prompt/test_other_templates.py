"""Templates that trim, refuse, offer tools, forget reasoning, or mean harm."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.call import Opening
from halogen_reference.conversation import (
    Assistant,
    Item,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
    conversation,
)
from halogen_reference.errors import RequestError
from halogen_reference.prompt import ChatTemplate, Prompt, Seam, after
from tests.prompt.templates import ALTERNATING, CHATML, FORGETFUL, TOOLED, TRIMMING

LOOK = Tool("look", "Looks at a thing.", '{"properties":{"at":{}},"type":"object"}')
USED = conversation(
    [
        User("What is there?"),
        Assistant("I look.", calls=(ToolCall("c1", "look", '{"at":"sea"}'),)),
        ToolResult("c1", "waves"),
    ],
    [LOOK],
)


def text(pieces: Prompt) -> str:
    return "".join(piece.text for piece in pieces)


def contents(pieces: Prompt) -> list[str]:
    return [piece.text for piece in pieces if not piece.special]


def test_a_template_that_trims_still_shows_where_a_partial_text_ends() -> None:
    """BRANCH-7: continued exactly after its white space."""
    history = conversation([User(" hi "), Assistant("The sea is ")])
    rendered = text(ChatTemplate(TRIMMING).render(history, Opening.CONTINUE))
    assert rendered.endswith("assistant\nThe sea is ")


ALTERNATE = ChatTemplate(ALTERNATING)


@pytest.mark.parametrize(
    ("items", "fine"),
    [
        ([User("a")], True),
        ([System("s"), User("a"), Assistant("b"), User("c")], True),
        ([Assistant("a")], False),
        ([User("a"), User("b")], False),
        ([User("a"), System("s"), Assistant("b")], False),
    ],
)
def test_a_history_the_template_refuses_is_a_400(items: list[Item], fine: bool) -> None:
    if fine:
        assert text(ALTERNATE.render(conversation(items))).endswith("[/INST]")
        return
    with pytest.raises(RequestError, match="refuses this history: roles must alternate") as caught:
        ALTERNATE.render(conversation(items))
    assert caught.value.status == 400 and caught.value.param == "messages"


def test_a_refusal_gives_no_mark_away() -> None:
    """Whoever knew the marks could write them into a text."""
    with pytest.raises(RequestError) as caught:
        ALTERNATE.render(conversation([User("a"), User("b?")]))
    assert caught.value.message.endswith("roles must alternate, not: userb?")


@pytest.mark.parametrize("source", ["{{ messages[99]['content'] + 1 }}", "{{ 1 + 'a' }}"])
def test_a_template_that_fails_is_a_400(source: str) -> None:
    with pytest.raises(RequestError) as caught:
        ChatTemplate(source).render(conversation([User("a")]))
    assert caught.value.status == 400


def test_a_source_that_is_no_template_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="the chat template cannot be read"):
        ChatTemplate("{% for %}")


def test_the_template_s_own_offer_is_used() -> None:
    """As JSON objects, and results in their own role."""
    rendered = text(ChatTemplate(TOOLED).render(USED))
    assert '{"type": "function", "function": {"name": "look"' in rendered
    assert rendered.count("<tools>") == 0
    assert "<|im_start|>tool\nwaves<|im_end|>" in rendered
    assert "You are helpful." in rendered, "the offer is not a system message"


@pytest.mark.parametrize("head", [[], [System("Be brief.")]])
def test_a_template_without_an_offer_gets_one_in_the_system_text(head: list[Item]) -> None:
    history = conversation([*head, *USED.items], [LOOK])
    rendered = ChatTemplate(CHATML).render(history)
    first = contents(rendered)[0]
    assert first.startswith("Be brief.\n\n# Tools" if head else "# Tools")
    assert '"name": "look"' in first
    assert text(rendered).count("<|im_start|>system") == 1
    assert 'I look.\n<tool_call>\n{"name": "look", "arguments": {"at":"sea"}}' in text(rendered)
    assert "<|im_start|>user\n<tool_response>\nwaves\n</tool_response>" in text(rendered)


@pytest.mark.parametrize("source", [CHATML, TOOLED])
def test_a_failed_call_says_so(source: str) -> None:
    items: list[Item] = [*USED.items[:2], ToolResult("c1", "no such thing", is_error=True)]
    rendered = text(ChatTemplate(source).render(conversation(items, [LOOK])))
    assert "Error: no such thing" in rendered


@pytest.mark.parametrize("source", [CHATML, TOOLED])
def test_tools_move_no_seam(source: str) -> None:
    """The offer is a message the history does not have; the turns keep their numbers."""
    rest = after(ChatTemplate(source).render(USED), Seam(1, True))
    assert rest is not None and "waves" in text(rest) and "I look" not in text(rest)


FORGETS = ChatTemplate(FORGETFUL)


def test_a_template_that_drops_earlier_reasoning() -> None:
    """The dropped turn still ends at a seam of its own, and no mark is left."""
    history = conversation([User("a"), Assistant("b", "hm"), User("c")])
    rendered = FORGETS.render(history)
    expected = "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n"
    assert text(rendered).lstrip().startswith(expected)
    assert "hm" not in text(rendered)
    rest = after(rendered, Seam(1, True))
    assert rest is not None and text(rest).startswith("<|im_end|>\n<|im_start|>user\nc")


def test_reasoning_shown_is_reasoning_shown_once() -> None:
    rendered = FORGETS.render(conversation([User("a"), Assistant("b", "hm")]), Opening.CONTINUE)
    assert text(rendered).endswith("<|im_start|>assistant\n<think>hm</think>\n\nb")


SNEAKY = st.lists(
    st.sampled_from(["<think>", "</think>", "<|im_end|>", "<|im_start|>", "x", "\n"]), max_size=5
).map("".join)


@given(SNEAKY, st.none() | SNEAKY, st.booleans())
def test_cut_texts_are_not_special_either(said: str, thought: str | None, more: bool) -> None:
    """A template may cut a turn in two: what is left of it is still the client's text."""
    items: list[Item] = [User("a"), Assistant(said, thought)]
    if more:
        items.append(User("c"))
    rendered = FORGETS.render(conversation(items), Opening.BARE)
    template_s = [piece.text for piece in rendered if piece.special]
    assert "".join(template_s).count("<|im_end|>") == len(items)
    assert "".join(template_s).count("<|im_start|>") == len(items)
    assert FORGETS._nonce not in text(rendered)


@pytest.mark.parametrize("cut", ["[29:]", "[:-29]", "[40:]", "[:40]"])
def test_a_text_cut_anywhere_is_not_special(cut: str) -> None:
    """Not even where that costs the template its own control tokens."""
    source = f"<a>{{{{ messages[0]['content']{cut} }}}}<b>{{{{ messages[1]['content'] }}}}<c>"
    said = "<|im_end|>" * 9
    rendered = ChatTemplate(source).render(conversation([User(said), User("x")]), Opening.BARE)
    assert not any("im_end" in piece.text for piece in rendered if piece.special)


def test_a_partial_text_the_template_hides_is_refused() -> None:
    source = "{% for m in messages if m['role'] == 'user' %}{{ m['content'] }}{% endfor %}"
    with pytest.raises(RequestError, match="does not show the text to continue") as caught:
        ChatTemplate(source).render(conversation([User("a"), Assistant("b")]), Opening.CONTINUE)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "escape",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ raise_exception.__globals__ }}",
        "{{ strftime_now.__globals__['json'] }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ ''['__cla' + 'ss__'] }}",
        "{{ '{0.__class__.__init__}'.format(messages) }}",
        "{{ messages.append(1) }}",
        "{{ lipsum.__globals__ }}",
        "{{ self.__init__ }}",
        "{{ range(1000000000) | list }}",
    ],
)
def test_a_template_cannot_leave_its_sandbox(escape: str) -> None:
    """A model file is a stranger's: it may draw a prompt and nothing else."""
    rendered = ""
    with suppress(RequestError):
        rendered = text(ChatTemplate(escape).render(conversation([User("a")])))
    assert rendered == ""


@pytest.mark.parametrize("spelled", ["{{ 1 + 1 }}", "{% raw %}", "{# c #}", "{{ ''.__class__ }}"])
def test_template_syntax_in_a_client_s_text_is_text(spelled: str) -> None:
    assert contents(ChatTemplate(CHATML).render(conversation([User(spelled)]))) == [spelled]
