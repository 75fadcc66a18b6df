"""From tokens' bytes to text that may be shown: whole characters, never part of a stop string."""

import codecs
from collections import deque
from collections.abc import Iterable, Sequence

from halogen_reference.engine.protocol import Text
from halogen_reference.reply import TokenLogprob


class TokenEnds:
    """Where each token ends in the text, in characters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ends: list[int | None] = []
        self.length = 0

    def feed(self, piece: bytes) -> str:
        """Add one token's bytes; returns the characters they complete."""
        text = self._decoder.decode(piece)
        self.length += len(text)
        half_character = bool(self._decoder.getstate()[0])
        self._ends.append(None if half_character else self.length)
        return text

    def within(self, chars: int) -> tuple[int, int]:
        """How many tokens lie wholly within the first ``chars`` characters, and how many
        characters those cover."""
        for index in range(len(self._ends) - 1, -1, -1):
            end = self._ends[index]
            if end is not None and end <= chars:
                return index + 1, end
        return 0, 0


class ReplyText:
    """The text of one reply, fed token by token.

    Bytes of a character that is not complete wait for the rest and are dropped if it never comes.
    Text that may still become a stop string waits too; once a stop string is complete it and all
    after it are cut off, and :attr:`stop_string` says which it was. A complete ``last`` string ends
    the text too, and stays part of it.
    """

    def __init__(self, stops: Sequence[str] = (), last: str = "") -> None:
        self._stops = [stop for stop in stops if stop]
        self._last = last
        self._tokens = TokenEnds()
        self._released = 0
        self._logprobs: deque[tuple[int, TokenLogprob]] = deque()
        self.text = ""
        self.stop_string: str | None = None
        self.complete = False
        """The text has ended, by a stop string or the last string."""

    def feed(self, piece: bytes, logprob: TokenLogprob | None = None) -> Text | None:
        """Add one token's bytes; returns what may be shown now. Not to be called after a stop."""
        self.text += self._tokens.feed(piece)
        if logprob is not None:
            self._logprobs.append((len(self.text), logprob))
        return self._release(self._find_stop())

    def finish(self) -> Text | None:
        """The reply is over: what was held back is text after all."""
        return self._release(len(self.text))

    def tokens_inside(self) -> tuple[int, str]:
        """How many of the tokens lie wholly inside the text, and the text they do not cover.

        They differ when a stop string or the limit cuts a token in two (KEEP-2).
        """
        count, covered = self._tokens.within(len(self.text))
        return count, self.text[covered:]

    def _find_stop(self) -> int:
        """The position up to which text may be released; cuts the text at a stop string."""
        found = [
            (at, stop) for stop in self._stops if (at := self.text.find(stop, self._released)) >= 0
        ]
        if found:
            # The one complete first, however the text was cut into tokens.
            at, self.stop_string = min(
                found, key=lambda match: (match[0] + len(match[1]), match[0])
            )
            return self._cut(at)
        if self._last and self._last in self.text:
            return self._cut(self.text.index(self._last) + len(self._last))
        return len(self.text) - self._stop_beginning()

    def _cut(self, at: int) -> int:
        self.text = self.text[:at]
        self.complete = True
        return at

    def _stop_beginning(self) -> int:
        """Length of the longest end of the unreleased text that a stop string begins with."""
        tail = self.text[self._released :]
        longest = max((len(stop) - 1 for stop in self._stops), default=0)
        for length in range(min(longest, len(tail)), 0, -1):
            if any(stop.startswith(tail[-length:]) for stop in self._stops):
                return length
        return 0

    def _release(self, upto: int) -> Text | None:
        text = self.text[self._released : upto]
        self._released = max(self._released, upto)
        logprobs = []
        while self._logprobs and self._logprobs[0][0] <= upto:
            logprobs.append(self._logprobs.popleft()[1])
        return Text(text, tuple(logprobs)) if text or logprobs else None


def tokens_within(pieces: Iterable[bytes], chars: int) -> tuple[int, int]:
    """Of tokens given by their bytes, how many lie within the first ``chars`` characters of their
    text, and how many characters those cover (BRANCH: where a partial reply cuts the kept one)."""
    ends = TokenEnds()
    for piece in pieces:
        ends.feed(piece)
        if ends.length > chars:
            break
    return ends.within(chars)
