"""A state of the simulated model: tokens, the bytes they stand for, and the cells they take."""

import struct
from collections.abc import Callable, Sequence

from halogen_reference.engine.protocol import StateRejected
from halogen_simulator.pool import Run

BYTES_PER_TOKEN = 23_040
"""KV bytes of a token, as the reference's packaged model has them."""

_EXPORT = struct.Struct("<8sQ")
_EXPORT_MARK = b"HALOGSIM"


class SimState:
    """See :class:`halogen_reference.engine.protocol.State`.

    ``data`` is what the model "remembers": replies are made from it and never from the request's
    own text, so a wrong state gives a visibly wrong reply.
    """

    def __init__(
        self,
        number: int,
        parent: int | None,
        tokens: Sequence[int],
        data: bytes,
        resident: int,
        run: Run,
        free: "Callable[[SimState], None]",
        token_bytes: int = BYTES_PER_TOKEN,
    ) -> None:
        self.number, self.parent = number, parent
        """Its own number, and that of the state it was started from."""
        self.tokens = tuple(tokens)
        self.data = data
        self.resident = resident
        """How many of the tokens are evaluated; whoever starts here evaluates the rest."""
        self.run = run
        self._free = free
        self._token_bytes = token_bytes
        self.references = 1

    @property
    def size(self) -> int:
        return self.resident * self._token_bytes

    def retain(self) -> "SimState":
        assert self.references > 0, "a released state was used"
        self.references += 1
        return self

    def release(self) -> None:
        assert self.references > 0, "a state was released twice"
        self.references -= 1
        if self.references == 0:
            self._free(self)


def exported(data: bytes, resident: int) -> bytes:
    """A state as bytes for a file: what was read, and how many of its tokens are evaluated."""
    return _EXPORT.pack(_EXPORT_MARK, resident) + data


def imported(export: bytes) -> tuple[int, bytes]:
    """The two again: evaluated tokens, at least one, and what was read. Raises StateRejected."""
    if len(export) < _EXPORT.size:
        raise StateRejected("the state is too short")
    mark, resident = _EXPORT.unpack(export[: _EXPORT.size])
    if mark != _EXPORT_MARK or not resident:
        raise StateRejected("the state is not one of this engine's")
    return resident, bytes(export[_EXPORT.size :])
