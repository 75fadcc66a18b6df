"""The tokeniser: both directions, several spellings, characters of several tokens."""

from hypothesis import given
from hypothesis import strategies as st

from halogen_simulator.vocabulary import (
    CLOSE_MARK,
    OPEN_MARK,
    TURN_CLOSE,
    TURN_OPEN,
    vocabulary,
)

VOCABULARY = vocabulary()
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.lists(
    st.sampled_from(
        [" lantern", "Lantern,", "the", " xyzzy", "é", "🌿", "\n\n", "  ", "<|im_end|>"]
    )
).map("".join)


def spelled(tokens: list[int]) -> bytes:
    return b"".join(map(VOCABULARY.piece, tokens))


@given(TEXTS)
def test_tokens_spell_their_text(text: str) -> None:
    assert spelled(list(VOCABULARY.encode(text, False))) == text.encode()


@given(TEXTS, st.integers(0, 60))
def test_any_spelling_has_the_same_bytes(text: str, cut: int) -> None:
    encode = VOCABULARY.encode
    whole = VOCABULARY.marked(encode(text, False))
    assert VOCABULARY.marked([*encode(text[:cut], False), *encode(text[cut:], False)]) == whole
    assert VOCABULARY.marked(VOCABULARY.twins(encode(text, False))) == whole


@given(TEXTS)
def test_clients_cannot_write_control_tokens(text: str) -> None:
    marked = VOCABULARY.marked(VOCABULARY.encode(text + TURN_OPEN, False))
    assert OPEN_MARK not in marked and CLOSE_MARK not in marked


def test_templates_write_control_tokens() -> None:
    tokens = VOCABULARY.encode(f"{TURN_OPEN}user\nHello{TURN_CLOSE}\n", True)
    assert VOCABULARY.marked(tokens) == OPEN_MARK + b"user\nHello" + CLOSE_MARK + b"\n"
    assert spelled(list(tokens)) == b"user\nHello\n"


def test_words_have_a_second_spelling() -> None:
    own = VOCABULARY.encode(" lantern", False)
    assert len(own) == 1
    assert VOCABULARY.twins(own) != tuple(own)


def test_other_letters_are_spelled_in_bytes() -> None:
    assert len(VOCABULARY.encode("é", False)) == 2
    assert len(VOCABULARY.encode("🌿", False)) == 4


def test_ids_run_from_zero() -> None:
    tokens = VOCABULARY.encode("Any text, 東京 and 🧭, at all.", False)
    assert all(0 <= token < len(VOCABULARY) for token in VOCABULARY.twins(tokens))
