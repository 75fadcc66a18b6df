"""What of a reply may be shown, and when: whole characters, and never part of a stop string."""

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from halogen_reference.engine.protocol import Text
from halogen_reference.engine.text import ReplyText, TokenEnds, tokens_within
from halogen_reference.reply import Candidate, TokenLogprob

ALPHABET = "ab é😀\n"
TEXTS = st.text(ALPHABET, max_size=14)
STOPS = st.lists(st.text(ALPHABET, max_size=4), max_size=4)
# Whole characters, halves of them, and bytes that are no UTF-8 at all.
TOKENS = st.lists(
    st.sampled_from([b"a", b"b", b"ab", b"", b"\n", "é".encode(), b"\xc3", b"\xa9", b"\xff"])
    | st.sampled_from(["😀".encode(), "😀".encode()[:1], "😀".encode()[:3], "😀".encode()[3:]]),
    max_size=10,
)


@st.composite
def cuts(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> list[bytes]:
    """A text's bytes cut into tokens anywhere, inside characters too."""
    data = draw(texts).encode()
    at = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    return [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]


def logprob(index: int) -> TokenLogprob:
    return TokenLogprob(Candidate(str(index), -float(index), b""))


@dataclass
class Shown:
    reply: ReplyText
    released: list[tuple[str, list[str]]]
    """For each token fed, and for the end: the text shown and the log probabilities with it."""
    fed: int

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.released)

    @property
    def logprobs(self) -> list[str]:
        return [token for _, tokens in self.released for token in tokens]


def show(tokens: list[bytes], stops: list[str], last: str = "") -> Shown:
    """Feed tokens as an engine does: until the text is complete, then the end."""
    shown = Shown(ReplyText(stops, last), [], 0)

    def note(text: Text | None) -> None:
        tokens = [] if text is None else [logprob.chosen.token for logprob in text.logprobs]
        shown.released.append((text.text if text else "", tokens))

    for token in tokens:
        note(shown.reply.feed(token, logprob(shown.fed)))
        shown.fed += 1
        if shown.reply.complete:
            break
    note(shown.reply.finish())
    return shown


def cut_at_a_stop(text: str, stops: list[str]) -> tuple[str, str | None]:
    """The stop string that is complete first; of those that end together, the longest."""
    for end in range(1, len(text) + 1):
        there = [stop for stop in stops if stop and text[:end].endswith(stop)]
        if there:
            stop = max(there, key=len)
            return text[: end - len(stop)], stop
    return text, None


@given(cuts(st.text("ab", max_size=8)), st.lists(st.text("ab", max_size=4), max_size=4))
@example([b"aba"], ["aba", "b"])
@example([b"xab", b"c"], ["abc", "ab"])
def test_the_text_is_cut_at_the_first_stop(tokens: list[bytes], stops: list[str]) -> None:
    """KEEP-2, and however the text was cut into tokens."""
    shown = show(tokens, stops)
    expected, stop = cut_at_a_stop(b"".join(tokens).decode(), stops)
    assert (shown.text, shown.reply.stop_string) == (expected, stop)
    assert shown.reply.text == shown.text
    assert shown.reply.complete is (stop is not None)


@given(cuts(), STOPS)
def test_no_part_of_a_stop_is_ever_shown(tokens: list[bytes], stops: list[str]) -> None:
    """Not even for a moment: all that was shown at any time stays."""
    shown = show(tokens, stops)
    so_far = ""
    for text, _ in shown.released:
        so_far += text
        assert shown.text.startswith(so_far)
        assert not any(stop in so_far for stop in stops if stop)


@given(cuts(), STOPS)
def test_nothing_is_held_back_without_a_reason(tokens: list[bytes], stops: list[str]) -> None:
    """What may not become a stop string any more is shown at once."""
    shown = show(tokens, stops)
    longest = max((len(stop) - 1 for stop in stops if stop), default=0)
    fed, so_far = b"", ""
    for token, (text, _) in zip(tokens[: shown.fed], shown.released, strict=False):
        fed, so_far = fed + token, so_far + text
        complete = fed.decode(errors="ignore")
        if shown.reply.text.startswith(complete):
            held = complete[len(so_far) :]
            assert len(held) <= longest
            assert not held or any(stop.startswith(held) for stop in stops)


@given(TOKENS)
def test_any_bytes_become_text(tokens: list[bytes]) -> None:
    """Bytes that are no text show as such, and half a character at the end not at all."""
    shown = show(tokens, [])
    whole = b"".join(tokens).decode(errors="replace")
    assert shown.text == whole or whole == shown.text + "\ufffd"


@given(cuts())
def test_a_broken_character_is_never_shown(tokens: list[bytes]) -> None:
    assert all("\ufffd" not in text for text, _ in show(tokens, []).released)


@given(cuts(), STOPS)
def test_log_probabilities_come_with_their_token(tokens: list[bytes], stops: list[str]) -> None:
    """In order, none twice, none before its text, and none for what was cut off."""
    shown = show(tokens, stops)
    assert shown.logprobs == [str(index) for index in range(len(shown.logprobs))]
    fed = [b"".join(tokens[: index + 1]).decode(errors="ignore") for index in range(shown.fed)]
    so_far = ""
    for text, arrived in shown.released:
        so_far += text
        assert all(len(fed[int(index)]) <= len(so_far) for index in arrived)
    inside = [index for index in range(shown.fed) if len(fed[index]) <= len(shown.text)]
    assert len(shown.logprobs) == len(inside)


@given(TOKENS, st.lists(st.sampled_from(["a", "b", "ab", "é", "😀"]), max_size=2))
def test_tokens_inside_and_what_they_leave(tokens: list[bytes], stops: list[str]) -> None:
    """KEEP-2: the tokens kept and the text they do not cover are the text that was shown."""
    shown = show(tokens, stops)
    count, rest = shown.reply.tokens_inside()
    assert 0 <= count <= shown.fed
    head = b"".join(tokens[:count]).decode(errors="replace")
    assert head + rest == shown.text
    if count < shown.fed:
        more = b"".join(tokens[: count + 1])
        assert len(more.decode(errors="replace")) > len(shown.text) or _is_half(more)


def _is_half(data: bytes) -> bool:
    """It ends in the middle of a character."""
    ends = TokenEnds()
    ends.feed(data)
    return ends.within(ends.length) == (0, 0)


@given(TOKENS, st.integers(0, 12))
def test_tokens_within(tokens: list[bytes], chars: int) -> None:
    """BRANCH-1: as many tokens as end at or before a place, and the characters they cover."""
    count, covered = tokens_within(tokens, chars)
    assert covered <= chars and count <= len(tokens)
    assert len(b"".join(tokens[:count]).decode(errors="replace")) == covered
    for longer in range(count + 1, len(tokens) + 1):
        data = b"".join(tokens[:longer])
        assert _is_half(data) or len(data.decode(errors="replace")) > chars


@pytest.mark.parametrize(
    ("tokens", "inside"),
    [
        ([b"one", b" two", b" three"], (2, "")),
        ([b"one", b" twoSTOP"], (1, " two")),
        ([b"one STOP"], (0, "one ")),
        ([b"STOP"], (0, "")),
        ([b"one", b" ST", b"OP"], (1, " ")),
        ([b"one", b" ", b"ST", b"OP"], (2, "")),
    ],
)
def test_a_stop_that_cuts_a_token(tokens: list[bytes], inside: tuple[int, str]) -> None:
    shown = show(tokens, ["STOP", " three"])
    assert shown.reply.tokens_inside() == inside


@given(cuts(), st.text(ALPHABET, min_size=1, max_size=3), STOPS)
def test_the_last_string_is_part_of_the_text(
    tokens: list[bytes], last: str, stops: list[str]
) -> None:
    whole = b"".join(tokens).decode()
    shown = show(tokens, [], last)
    at = whole.find(last)
    assert shown.text == (whole if at < 0 else whole[: at + len(last)])
    assert shown.reply.complete is (at >= 0) and shown.reply.stop_string is None
    assert not any(stop in show(tokens, stops, last).text for stop in stops if stop)


def test_half_a_character_at_the_end_is_dropped() -> None:
    shown = show([b"a", "é".encode()[:1]], [])
    assert shown.text == "a" and shown.reply.tokens_inside() == (1, "")


def test_an_empty_stop_stops_nothing() -> None:
    assert show([b"abc"], ["", ""]).text == "abc"
