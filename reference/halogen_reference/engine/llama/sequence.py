"""A reply in the making, and a state that was kept: both are a llama.cpp sequence and its cells."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from halogen_reference.engine.llama.cells import CellIds
from halogen_reference.engine.llama.sampler import Sampler
from halogen_reference.engine.protocol import EngineEvent, Job, Started
from halogen_reference.engine.text import ReplyText


@dataclass(eq=False, slots=True)
class Slot:
    """A sequence id in llama.cpp and the cells it holds, one for each evaluated token."""

    sequence: int
    cells: CellIds
    first: int = 0
    """The batch in which its first own token was evaluated; 0 before that."""
    last: int = 0
    """And its last one."""


class LlamaState:
    """A kept state. Its sequence goes when the last reference is released."""

    def __init__(
        self,
        tokens: Sequence[int],
        resident: int,
        slot: Slot,
        token_bytes: int,
        free: Callable[[Slot], None],
    ) -> None:
        self.tokens = tuple(tokens)
        self.resident = resident
        """How many of the tokens are evaluated; the rest is evaluated by whoever starts here."""
        self.slot = slot
        self._token_bytes = token_bytes
        self._free = free
        self._references = 1

    @property
    def size(self) -> int:
        return self.resident * self._token_bytes

    def retain(self) -> "LlamaState":
        assert self._references > 0, "a released state was used"
        self._references += 1
        return self

    def release(self) -> None:
        assert self._references > 0, "a state was released twice"
        self._references -= 1
        if self._references == 0:
            self._free(self.slot)


class Reply:
    """One job on its way from the queue to its last token."""

    def __init__(self, job: Job, start: LlamaState | None) -> None:
        self.job = job
        self.start = start
        """The state to start from, with a reference of this reply's own, until it is placed."""
        self.tokens = list(job.tokens)
        self.prompt = np.array(job.tokens, dtype=np.int32)
        self.text = ReplyText(job.stop, job.last)
        self.events: asyncio.Queue[EngineEvent | Exception] = asyncio.Queue()
        self.slot: Slot | None = None
        self.sampler: Sampler | None = None
        self.resident = 0
        """Evaluated tokens. Cells beyond them are granted for the rest of the prompt."""
        self.evaluated = 0
        """Prompt tokens evaluated so far; evaluating again after an eviction does not count."""
        self.furthest = 0
        """How far into the prompt the evaluated tokens have ever reached."""
        self.placed_before = False
        self.cancelled = False

    @property
    def generated(self) -> int:
        return len(self.tokens) - len(self.job.tokens)

    @property
    def waiting_tokens(self) -> int:
        """Tokens that must be evaluated before the next one can be chosen."""
        return len(self.tokens) - self.resident

    @property
    def decoding(self) -> bool:
        """The prompt is evaluated: one token a step from here."""
        return self.generated > 0 and self.waiting_tokens == 1

    def note_evaluated(self, count: int) -> None:
        """The next tokens have been evaluated."""
        before = max(self.resident, self.furthest)
        self.resident += count
        self.furthest = min(max(self.furthest, self.resident), len(self.job.tokens))
        self.evaluated += max(0, self.furthest - before)

    def announce(self) -> None:
        """Tell the client's side that the reply has its place, once."""
        if not self.placed_before:
            self.placed_before = True
            self.events.put_nowait(Started())
