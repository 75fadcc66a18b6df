"""The reply's text as it comes: tokens in, text out, several at a time where that is possible.

Without stop strings and log probabilities nothing has to be looked at token by token, and the
simulator answers several times as many requests.
"""

import codecs
from collections.abc import Callable, Sequence
from typing import Protocol

from halogen_reference.engine.protocol import Job, Text
from halogen_reference.engine.text import ReplyText, TokenEnds
from halogen_reference.reply import TokenLogprob


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

    def __init__(self, piece: Callable[[int], bytes]) -> None:
        self._piece = piece
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tokens: list[int] = []
        self._length = 0

    def feed(self, tokens: Sequence[int]) -> Text | None:
        self._tokens += tokens
        text = self._decoder.decode(b"".join(map(self._piece, tokens)))
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
            text += ends.feed(self._piece(token))
        count, covered = ends.within(self._length)
        return count, text[covered : self._length]
