"""What the simulated model says: a pure function of the bytes it has read.

The next word follows from a hash of everything up to the last gap between words. So a reply that is
begun again anywhere, even within a word, goes on as it did the first time, as a greedy model's
would; and one other byte anywhere before gives other words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain

from halogen_reference.tool_form import THINK_CLOSE, THINK_OPEN
from halogen_simulator.vocabulary import CLOSE_MARK, OPEN_MARK, Vocabulary
from halogen_simulator.words import WORDS

_THOUGHT_WORDS = 6
_MEMO = 50_000
"""Spellings that are remembered."""
_AFTER_THOUGHT = THINK_CLOSE.encode() + b"\n\n"
(_COMMA,) = b","
_BEGINNING = -1
_BEFORE_CAPITALS = frozenset((_BEGINNING, *b"."))
_NO_GAP = frozenset((_BEGINNING, *b" \t\n\r"))
"""What no space is written after."""
_LAST_WORD = re.compile(rb"[ \t\n\r]*[^ \t\n\r]*\Z")
_COUNTING = re.compile(rb"(?:\A|[ \t\n\r])(\d{1,9}),\Z")
# More halves than this, and usage would differ much between a reply's tokens and its text's.
_WAYS = ("halves", *["twins"] * 6, *["own"] * 9)
_EMOJI = tuple(word.encode() for word in WORDS if len(word) == 1 and ord(word) > 0xFFFF)
_TWO_EMOJI = re.compile(rb"(?:\xf0[\x80-\xbf]{3}){2}\Z")
_WORDS = tuple(word.encode() for word in WORDS)
_CAPITALS = tuple((word[:1].upper() + word[1:]).encode() for word in WORDS)


def open_turn(data: bytes) -> bytes:
    """The text of the turn that is open at the end of what was read."""
    turn = data.rpartition(OPEN_MARK)[2]
    text = turn.partition(b"\n")[2]
    closed = text.rfind(CLOSE_MARK)
    # No turn was opened after the last (``add_generation_prompt: false``).
    return text if closed < 0 else text[closed + len(CLOSE_MARK) :]


@dataclass(frozen=True, slots=True)
class Writer:
    """``key`` tells one simulated model from another; ``words`` is the length of a reply."""

    vocabulary: Vocabulary
    key: bytes
    words: int
    thinks: bool = False
    """Every reply opens with a short reasoning block."""
    _spelled: dict[tuple[bytes, str], tuple[int, ...]] = field(default_factory=dict, repr=False)

    def digest(self, data: bytes, seed: bytes = b"") -> bytes:
        """A hash of what was read, by which everything is chosen."""
        return blake2b(data + seed, key=self.key, digest_size=16).digest()

    def units(self, data: bytes, seed: bytes = b"") -> Iterator[Sequence[int]]:
        """The reply's tokens, word by word, to the end of the turn. ``data`` is all that was read;
        ``seed`` varies the words without being part of the text."""
        text = open_turn(data)
        first: Iterator[Sequence[int]] | None = None
        if self.thinks:
            opening = data[: len(data) - len(text)]
            thought = self._thought(opening, seed)
            if thought.startswith(text):
                first = self.spell(thought[len(text) :], self.digest(data))
                data, text = opening + thought, b""
        if text.startswith(THINK_OPEN.encode()):
            text = text.partition(_AFTER_THOUGHT)[2]
        said = self._say(data, text, seed)
        return chain(first, said) if first else said

    def spell(self, said: bytes, digest: bytes) -> Iterator[Sequence[int]]:
        """Tokens for a text that is to be said as it is, a few at a time."""
        tokens = self._tokens(said, digest)
        for at in range(0, len(tokens), 4):
            yield tokens[at : at + 4]

    def _say(self, data: bytes, text: bytes, seed: bytes) -> Iterator[Sequence[int]]:
        found = _LAST_WORD.search(text)
        assert found is not None
        before, begun = text[: found.start()], found[0]
        written, spelled = len(before.split()), self._spelled
        hasher = blake2b(data[: len(data) - len(begun)], key=self.key, digest_size=16)
        while True:
            if seed:
                chosen = hasher.copy()
                chosen.update(seed)
                digest = chosen.digest()
            else:
                digest = hasher.digest()
            unit, ends = self._unit(digest, before, written)
            rest = unit
            if begun:
                if not unit.startswith(begun):
                    # Words of the client's own: the reply goes on after them.
                    before, written, begun = text, len(text.split()), b""
                    hasher = blake2b(data, key=self.key, digest_size=16)
                    continue
                rest, begun = unit[len(begun) :], b""
            if rest:
                way = _WAYS[digest[4] % len(_WAYS)]
                yield spelled.get((rest, way)) or self._remembered(rest, way)
            if ends:
                return
            hasher.update(unit)
            before, written = before[-16:] + unit, written + 1

    def _unit(self, digest: bytes, before: bytes, written: int) -> tuple[bytes, bool]:
        """The next word with what stands before and after it, and whether it is the last."""
        end = before[-1] if before else _BEGINNING
        if end == _COMMA and (counting := _COUNTING.search(before)):
            # A count that was begun goes on for as long as it may: for tests of long replies.
            return b" %d," % (int(counting[1]) + 1), False
        if end >= 0x80 and _TWO_EMOJI.search(before):
            # So do emoji: for tests of text in which every character is several tokens.
            return _EMOJI[digest[0] % len(_EMOJI)], False
        index = (digest[0] << 8 | digest[1]) % len(_WORDS)
        gap = b"" if end in _NO_GAP else b" "
        if end in _BEFORE_CAPITALS:
            word = _CAPITALS[index]
            if gap and digest[2] < 32:
                gap = b"\n\n"
        else:
            word = _WORDS[index]
        ends = (written + 1) % self.words == 0
        marked = digest[3]
        if ends or marked < 32:
            return gap + word + b".", ends
        return gap + word + b"," if marked < 56 else gap + word, False

    def _tokens(self, said: bytes, digest: bytes) -> Sequence[int]:
        """Often spelled in another way than the tokeniser's own."""
        way = _WAYS[digest[4] % len(_WAYS)]
        return self._spelled.get((said, way)) or self._remembered(said, way)

    def _remembered(self, said: bytes, way: str) -> tuple[int, ...]:
        spelled = self._spell(said, way)
        if len(said) < 64 and len(self._spelled) < _MEMO:
            self._spelled[said, way] = spelled
        return spelled

    def _spell(self, said: bytes, way: str) -> tuple[int, ...]:
        text, encode = said.decode("utf-8", "replace"), self.vocabulary.encode
        if way == "halves":
            at = len(text.rstrip(".,")) // 2
            return (*encode(text[:at], False), *encode(text[at:], False))
        tokens = encode(text, False)
        return self.vocabulary.twins(tokens) if way == "twins" else tuple(tokens)

    def _thought(self, opening: bytes, seed: bytes) -> bytes:
        digest = self.digest(opening, seed + b"thought")
        words = [
            _WORDS[int.from_bytes(digest[at : at + 2]) % len(_WORDS)]
            for at in range(0, 2 * _THOUGHT_WORDS, 2)
        ]
        return THINK_OPEN.encode() + b" ".join(words) + b"." + _AFTER_THOUGHT
