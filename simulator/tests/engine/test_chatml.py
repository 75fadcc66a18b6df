"""The renderer written by hand against the template it stands for."""

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
from halogen_reference.prompt import ChatTemplate, Prompt
from halogen_simulator.chatml import ChatMl

# Tools are offered by the server, which then shows results as user messages.
SOURCE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
TEMPLATE = ChatTemplate(SOURCE)
TEXTS = st.text("ab <>|\n", max_size=12)
CALLS = st.lists(st.just(ToolCall("c", "look", "{}")), max_size=2).map(tuple)
ITEMS = st.lists(
    TEXTS.map(System) | TEXTS.map(User) | st.builds(Assistant, TEXTS, st.none() | TEXTS, CALLS),
    min_size=1,
    max_size=6,
)
TOOLS = st.sampled_from([[], [Tool("look", "Looks.", '{"type":"object"}')]])


def shown(prompt: Prompt) -> list[object]:
    """The pieces as a model sees them: neighbours of one kind are one, the seams' places count."""
    runs: list[object] = []
    for piece in prompt:
        if piece.text and runs and isinstance(runs[-1], list) and runs[-1][0] == piece.special:
            runs[-1][1] += piece.text
        elif piece.text:
            runs.append([piece.special, piece.text])
        if piece.seam is not None:
            runs.append(piece.seam)
    return runs


@given(ITEMS, TOOLS, st.sampled_from([Opening.REPLY, Opening.BARE]))
def test_it_is_the_template(items: list[Item], tools: list[Tool], opening: Opening) -> None:
    asked = conversation(items, tools)
    assert shown(ChatMl().render(asked, opening)) == shown(TEMPLATE.render(asked, opening))


@given(ITEMS, TEXTS)
def test_it_is_the_template_for_an_open_turn(items: list[Item], partial: str) -> None:
    asked = conversation([*items, Assistant(partial)])
    opened = Opening.CONTINUE
    assert shown(ChatMl().render(asked, opened)) == shown(TEMPLATE.render(asked, opened))


def test_results_have_a_role_of_their_own() -> None:
    asked = conversation([User("Look."), ToolResult("c", "A wall.", is_error=True)])
    text = "".join(piece.text for piece in ChatMl().render(asked, Opening.REPLY))
    assert "<|im_start|>tool\nError: A wall.<|im_end|>\n" in text


def test_nothing_to_continue_is_refused() -> None:
    with pytest.raises(RequestError, match="no assistant text"):
        ChatMl().render(conversation([User("Hello")]), Opening.CONTINUE)
