"""A tokeniser with the traps of real ones.

Most texts have several spellings: ``encode`` takes the longest piece there is, while the simulated
model often spells its words otherwise, so comparing token ids fails inside replies (FROM-9). Its
words have a second token for the same text, and are cut in two at times. Characters
outside ASCII are spelled byte by byte, so cutting between two tokens can cut a character.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from string import ascii_lowercase

from halogen_simulator.words import COMMON, WORDS

TURN_OPEN = "<|im_start|>"
TURN_CLOSE = "<|im_end|>"

# What a control token adds to the bytes a state stands for. No UTF-8 text has this byte, so no
# client can write one.
OPEN_MARK = b"\xff<"
CLOSE_MARK = b"\xff>"

_CONTROLS = {TURN_OPEN: OPEN_MARK, TURN_CLOSE: CLOSE_MARK}
_CONTROL = re.compile("(" + "|".join(map(re.escape, _CONTROLS)) + ")")
_CHUNK = re.compile(r" ?[A-Za-z]+|[^A-Za-z ]+| ")
_LONGEST_PART = 4
_MEMO = 50_000
"""Chunks whose tokens are remembered."""


class Vocabulary:
    """Token ids, the bytes each stands for, and both directions between text and tokens."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = [bytes([byte]) for byte in range(256)]
        self.pieces.extend(_parts())
        self._ids = {piece: token for token, piece in enumerate(self.pieces)}
        self._controls: dict[str, int] = {}
        self._marks = list(self.pieces)
        for text, mark in _CONTROLS.items():
            self._controls[text] = len(self.pieces)
            self.pieces.append(b"")
            self._marks.append(mark)
        self._twins: dict[int, int] = {}
        for form in _forms(WORDS):
            self._twins[self._ids[form.encode()]] = len(self.pieces)
            self.pieces.append(form.encode())
            self._marks.append(form.encode())
        self._memo = _Memo(self._cut)
        self._templates: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str, special: bool) -> Sequence[int]:
        """The tokeniser's own spelling. With ``special``, control tokens in the text count."""
        if not special:
            return self._plain(text)
        known = self._templates.get(text)
        if known is None:
            known = tuple(self._with_controls(text))
            if len(self._templates) < _MEMO:
                self._templates[text] = known
        return known

    def piece(self, token: int) -> bytes:
        """What a token adds to the text; control tokens add nothing."""
        return self.pieces[token]

    def twins(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Another spelling with as many tokens, where there is one."""
        return tuple(self._twins.get(token, token) for token in tokens)

    def marked(self, tokens: Sequence[int]) -> bytes:
        """The bytes that tokens stand for, control tokens shown by their marks. Two spellings of
        one text have the same bytes."""
        return b"".join(map(self._marks.__getitem__, tokens))

    def _plain(self, text: str) -> list[int]:
        memo, tokens = self._memo, list[int]()
        for chunk in _CHUNK.findall(text):
            tokens += memo[chunk]
        return tokens

    def _with_controls(self, text: str) -> Iterator[int]:
        for part in _CONTROL.split(text):
            if part in self._controls:
                yield self._controls[part]
            else:
                yield from self._plain(part)

    def _cut(self, chunk: str) -> tuple[int, ...]:
        data = chunk.encode("utf-8", "replace")
        whole = self._ids.get(data)
        if whole is not None:
            return (whole,)
        tokens, at = [], 0
        while at < len(data):
            length = _LONGEST_PART
            while (token := self._ids.get(data[at : at + length])) is None:
                length -= 1
            tokens.append(token)
            at += len(self.pieces[token])
        return tuple(tokens)


@cache
def vocabulary() -> Vocabulary:
    """The one there is: it never changes, and takes a moment to make."""
    return Vocabulary()


class _Memo(dict[str, tuple[int, ...]]):
    def __init__(self, cut: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        tokens = self._cut(chunk)
        if len(self) >= _MEMO:
            self.clear()
        if len(chunk) < 64:
            self[chunk] = tokens
        return tokens


def _parts() -> Iterator[bytes]:
    """Every piece longer than a byte, each once: pairs of printable characters, three letters with
    and without a space before them, and the model's words."""
    printable = [chr(code) for code in range(32, 127)] + ["\n"]
    pairs = [one + two for one in printable for two in printable]
    threes = [
        one + two + three
        for one in ascii_lowercase
        for two in "aeiouhrlnst"
        for three in ascii_lowercase
    ]
    words = [*_forms(WORDS), *_forms(COMMON)]
    halves = [half for word in words for half in (word[: len(word) // 2], word[len(word) // 2 :])]
    longer = dict.fromkeys([*pairs, *threes, *(f" {three}" for three in threes), *words, *halves])
    return (text.encode() for text in longer if len(text) > 1)


def _forms(words: Sequence[str]) -> Iterator[str]:
    """Words as they stand in texts; those with letters outside ASCII are spelled in bytes."""
    for word in words:
        if word.isascii():
            yield from (word, word.capitalize(), f" {word}", f" {word.capitalize()}")
