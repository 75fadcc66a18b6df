"""A reply while it streams in."""

import time
from collections.abc import Mapping

from demo.route import Answer, Call, Unanswered


class Hearing:
    """Puts a streamed reply together and notes when its first piece came. The clock starts when
    this is made: make it right before the request is sent."""

    def __init__(self) -> None:
        self._sent = time.perf_counter()
        self._first: float | None = None
        self._text = ""
        self._call: tuple[str, str] | None = None
        self._arguments = ""

    def text(self, piece: str) -> None:
        self._note(piece)
        self._text += piece

    def call(self, id: str, name: str) -> None:
        """A call begins."""
        self._note(name)
        self._call = id, name

    def arguments(self, piece: str) -> None:
        """A piece of the begun call's arguments."""
        self._arguments += piece

    def answer(
        self, headers: Mapping[str, str], usage: tuple[int, int | None, int] | None
    ) -> Answer:
        """The whole reply. ``usage``: tokens of the prompt, those of it that were cached, and
        tokens of the reply. Raises Unanswered without it."""
        ended = time.perf_counter() - self._sent
        if usage is None:
            raise Unanswered("the stream ended without its usage")
        prompt, cached, output = usage
        return Answer(
            outcome=headers.get("x-halogen-from"),
            text=self._text,
            prompt=prompt,
            evaluated=prompt - (cached or 0),
            output=output,
            first_token=ended if self._first is None else self._first,
            call=self._called(),
        )

    def _called(self) -> Call | None:
        if self._call is None:
            return None
        id, name = self._call
        return Call(name, self._arguments, id)

    def _note(self, piece: str) -> None:
        if piece and self._first is None:
            self._first = time.perf_counter() - self._sent
