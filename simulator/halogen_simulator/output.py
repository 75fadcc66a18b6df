"""The reply's text as it comes: tokens in, text out, several at a time where that is possible.

Without stop strings and log probabilities nothing has to be looked at token by token, and the
simulator answers several times as many requests.
"""

import codecs
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Protocol

from halogen_reference.engine.protocol import Job, Text
from halogen_reference.engine.text import ReplyText, TokenEnds
from halogen_reference.reply import TokenLogprob

_FIRST_PIECES = (1, 4, 16)
MOST_AT_ONCE = 32
"""Words in one piece of a streamed text when nothing takes time, and in its first pieces."""
MOST_UNREAD = 256
"""And in one piece of a text that nobody reads before its end."""


def piece_sizes(*, streamed: bool, hurried: bool) -> Iterator[int]:
    """Words in each piece of text: one at a time unless nothing takes time (``hurried``)."""
    if not hurried:
        return repeat(1)
    return chain(_FIRST_PIECES, repeat(MOST_AT_ONCE)) if streamed else repeat(MOST_UNREAD)


def take(units: Iterator[Sequence[int]], most: int, room: int) -> list[int]:
    """The tokens of the next ``most`` words, or as many of them as there is room for."""
    group: list[int] = []
    for unit in islice(units, most):
        group += unit
        if len(group) >= room:
            break
    return group[:room]


class Output(Protocol):
    """What the engine tells its tokens to."""

    @property
    def stop_string(self) -> str | None: ...

    @property
    def complete(self) -> bool:
        """The text has ended, by a stop string or the last string."""

    @property
    def singly(self) -> bool:
        """Tokens must be fed one by one."""

    def feed(self, tokens: Sequence[int]) -> Text | None: ...

    def finish(self) -> Text | None: ...

    def tokens_inside(self) -> tuple[int, str]: ...


class Watched:
    """One token at a time, by the reference's own :class:`ReplyText`."""

    singly = True

    def __init__(
        self,
        job: Job,
        piece: Callable[[int], bytes],
        logprob: Callable[[int], TokenLogprob | None],
    ) -> None:
        self._text = ReplyText(job.stop, job.last)
        self._piece, self._logprob = piece, logprob

    @property
    def stop_string(self) -> str | None:
        return self._text.stop_string

    @property
    def complete(self) -> bool:
        return self._text.complete

    def feed(self, tokens: Sequence[int]) -> Text | None:
        (token,) = tokens
        return self._text.feed(self._piece(token), self._logprob(token))

    def finish(self) -> Text | None:
        return self._text.finish()

    def tokens_inside(self) -> tuple[int, str]:
        return self._text.tokens_inside()


class Plain:
    """Any number of tokens at a time; all text is released at once."""

    singly = False
    stop_string: str | None = None
    complete = False

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tokens: list[int] = []
        self._length = 0

    def feed(self, tokens: Sequence[int]) -> Text | None:
        self._tokens += tokens
        text = self._decoder.decode(b"".join(map(self._pieces.__getitem__, tokens)))
        self._length += len(text)
        return Text(text) if text else None

    def finish(self) -> Text | None:
        """Bytes of a character that never became whole are no text."""
        return None

    def tokens_inside(self) -> tuple[int, str]:
        """See :meth:`ReplyText.tokens_inside`."""
        if not self._decoder.getstate()[0]:
            return len(self._tokens), ""
        ends, text = TokenEnds(), ""
        for token in self._tokens:
            text += ends.feed(self._pieces[token])
        count, covered = ends.within(self._length)
        return count, text[covered : self._length]
