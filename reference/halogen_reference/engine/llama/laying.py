"""Laying the kept sequences anew, once freed ones have left too much between them.

A freed sequence below a kept one stays where it is, because llama.cpp would fill the hole (see
``Scheduler._collect``). But every token looks at every place up to the last one in use, whosesoever
it is: with 14,000 of them a prompt takes three times as long. Laid anew, the kept sequences lie
close together, in the order of their positions, and still share what they shared.
"""

from collections.abc import Sequence

from halogen_reference.engine.llama.cells import common_length
from halogen_reference.engine.llama.context import Move
from halogen_reference.engine.llama.sequence import Slot

WORTH_LAYING = 256
"""Freed tokens from which it pays."""
PER_KEPT = 1 / 4
"""And how many for each kept one: moving a token takes a hundredth of the time that evaluating one
does."""
MOST_BYTES = 2**28
"""More than this is left where it lies: all of it passes through memory."""


def pays(*, live: int, freed: int, token_bytes: int) -> bool:
    """Whether to, with so many ``live`` and ``freed`` cells."""
    return freed > max(live * PER_KEPT, WORTH_LAYING) and live * token_bytes <= MOST_BYTES


def moves(slots: Sequence[Slot]) -> list[Move]:
    """How to lay these sequences, in this order, sharing all that they share."""
    laid: list[Slot] = []
    planned: list[Move] = []
    for slot in slots:
        base, shared = slot, 0
        for other in laid:
            common = common_length(slot.cells, other.cells)
            if common > shared:
                base, shared = other, common
        planned.append(Move(slot.sequence, base.sequence, shared, len(slot.cells)))
        laid.append(slot)
    return planned
