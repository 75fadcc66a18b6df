"""A tool call's arguments, made fit for clients that parse them while they arrive."""

import json

from pydantic_core import from_json

from halogen_reference.dialects.fields import JsonObject

_DECODER = json.JSONDecoder()
_BATCH = 8
"""A batch is checked once it is an eighth of what came before: the checks stay linear overall."""

_TRUNCATED = "EOF while parsing"
_TRAILING = "trailing characters"
"""How the parser's messages begin for the two faults that do not make the text malformed."""


class ObjectText:
    """The part of a text that is the beginning of a JSON object, or all of one.

    The anthropic SDK raises on malformed pieces, while it bears an object that breaks off. So what
    follows the first malformed piece is held back. Feed the pieces, then call :meth:`finish`; what
    both return is safe to send.
    """

    def __init__(self) -> None:
        self._sent = ""
        self._held = ""
        self._over = False

    def feed(self, piece: str) -> str:
        """What can be sent after one more piece."""
        if self._over:
            return ""
        self._held += piece
        if not self._sent:
            self._held = self._held.lstrip()
        if not self._held or len(self._held) * _BATCH < len(self._sent):
            return ""
        return self.finish()

    def finish(self) -> str:
        """What can be sent of the text held back so far."""
        ready, self._held = self._sent + self._held, ""
        if self._over or not _begins_object(ready):
            self._over = True
            return ""
        end = _end_of_object(ready)
        self._over = end is not None
        fresh = ready[len(self._sent) : end]
        self._sent = ready[:end]
        return fresh

    def value(self) -> JsonObject:
        """The object that was sent; a value that breaks off in a string or key is left out."""
        if not self._sent:
            return {}
        value = from_json(self._sent, allow_partial=True, allow_inf_nan=False)
        assert isinstance(value, dict)
        return value


def _begins_object(text: str) -> bool:
    """Whether more text can make it an object, or whether it begins with a whole one.

    The parser's own partial mode is no judge: it takes ``{"a": 1 oops`` for an object so far.
    """
    if not text.startswith("{"):
        return False
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError as problem:
        return str(problem).startswith((_TRUNCATED, _TRAILING))
    return True


def _end_of_object(text: str) -> int | None:
    """Where the object ends that the text begins with; None while it is open."""
    try:
        return _DECODER.raw_decode(text)[1]
    except ValueError:
        return None
