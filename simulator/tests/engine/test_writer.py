"""What the simulated model says: it depends on all that was read, and on nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_simulator.vocabulary import CLOSE_MARK, OPEN_MARK, vocabulary
from halogen_simulator.writer import Writer

OPENED = OPEN_MARK + b"user\nHello" + CLOSE_MARK + b"\n" + OPEN_MARK + b"assistant\n"
WRITER = Writer(vocabulary(), b"key", 12)
THINKER = Writer(vocabulary(), b"key", 12, thinks=True)


def said(data: bytes, writer: Writer = WRITER, seed: bytes = b"", most: int = 200) -> str:
    tokens: list[int] = []
    for unit in writer.units(data, seed):
        tokens += unit
        if len(tokens) > most:
            break
    return b"".join(map(vocabulary().piece, tokens)).decode("utf-8", "replace")


REPLY = said(OPENED)


def test_a_reply_has_its_length_and_ends_as_a_sentence() -> None:
    assert len(REPLY.split()) == 12 and REPLY.endswith(".")


@pytest.mark.parametrize("writer", [WRITER, THINKER])
def test_a_reply_begun_again_anywhere_goes_on_alike(writer: Writer) -> None:
    whole = said(OPENED, writer)
    for cut in range(len(whole) + 1):
        assert whole[:cut] + said(OPENED + whole[:cut].encode(), writer) == whole


@given(st.integers(0, len(OPENED) - 20), st.integers(1, 255))
def test_one_other_byte_gives_other_words(at: int, change: int) -> None:
    data = bytearray(OPENED)
    data[at] ^= change
    if data[-12:] == OPEN_MARK + b"assistant\n":
        assert said(bytes(data)) != REPLY


def test_a_seed_gives_other_words_and_the_same_again() -> None:
    assert said(OPENED, seed=b"1") == said(OPENED, seed=b"1") != said(OPENED, seed=b"2")


def test_words_of_the_clients_own_are_continued() -> None:
    more = said(OPENED + b"I think that")
    assert more.startswith(" ") and len(more.split()) == 9


@pytest.mark.parametrize("space", [b" ", b"  ", b"\t", b"\n\n"])
def test_white_space_is_not_doubled(space: bytes) -> None:
    assert said(OPENED + b"I think that" + space)[0] not in " \n"


def test_reasoning_comes_first() -> None:
    whole = said(OPENED, THINKER)
    thought, _, rest = whole.removeprefix("<think>").partition("</think>\n\n")
    assert thought and len(rest.split()) == 12


def test_a_count_goes_on() -> None:
    assert said(OPENED + b"1, 2, 3,").startswith(" 4, 5, 6,")


def test_emoji_go_on() -> None:
    more = said(OPENED + "🎉🎊".encode())
    assert len(more) > 20 and all(ord(letter) > 0xFFFF for letter in more[:-1])


def test_the_tokens_are_often_not_the_tokenisers() -> None:
    differing = 0
    for at in range(20):
        data = OPENED.replace(b"Hello", b"Hello %d" % at)
        own = [token for unit in WRITER.units(data) for token in unit]
        text = b"".join(map(vocabulary().piece, own)).decode()
        differing += own != list(vocabulary().encode(text, False))
    assert differing > 15
