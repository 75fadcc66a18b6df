"""Who gets memory and who is in the next batch. Plain arithmetic: it calls nothing in llama.cpp.

The rules, in order: requests are placed as they arrived; kept states go before anyone waits; a
placed request has cells for its whole prompt; when a running reply needs one more cell and no kept
state is left to go, the youngest reply gives its cells up and is evaluated again later, which its
client sees only as a pause.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from halogen_reference.engine.llama import laying
from halogen_reference.engine.llama.cells import Cells, common_length
from halogen_reference.engine.llama.context import Copy, Move, Remove, Row, SequenceEdit
from halogen_reference.engine.llama.sequence import LlamaState, Reply, Slot

PREFILL_ALONE = 252
"""Prompt tokens in a batch when no reply is being decoded."""
PREFILL_BESIDE = 64
"""And when some are: a long prompt slows the streams down but never stops them."""
WORTH_SHARING = 32
"""Tokens two prompts must have in common before one waits for the other's."""


class Scheduler:
    """Places replies into sequences and plans batches."""

    def __init__(self, *, cells: int, sequences: int, slots: int, token_bytes: int) -> None:
        self.cells = Cells(cells)
        self.waiting: deque[Reply] = deque()
        self.running: list[Reply] = []
        self.release_one: Callable[[], bool] = lambda: False
        self.on_free: Callable[[], None] = lambda: None
        """Called when a sequence is let go: there is something to collect."""
        self._slots = slots
        self._token_bytes = token_bytes
        self._sequences = list(range(sequences))
        self._edits: list[SequenceEdit] = []
        self._live: set[Slot] = set()
        self._garbage: list[Slot] = []
        self._being_laid: list[Slot] = []
        self._batches = 0

    def occupancy(self) -> tuple[int, int]:
        """Cells of running replies and kept states, and how many of them several share."""
        return self.cells.held(without=[slot.cells for slot in self._garbage])

    def edits(self) -> list[SequenceEdit]:
        """The sequence edits to apply before the next batch, handed over once."""
        if not self.running:
            self._collect(self._on_top())
        edits, self._edits = self._edits, []
        return edits

    def lay_anew(self) -> list[Move]:
        """How to lay the kept states closer together, when nothing runs and that pays; else
        nothing. What :meth:`edits` returns then comes first, and :meth:`laid` afterwards."""
        if self.running:
            return []
        self._collect(self._on_top())  # these need nothing moved
        live, _ = self.occupancy()
        freed = self.cells.used - live
        if not laying.pays(live=live, freed=freed, token_bytes=self._token_bytes):
            return []
        self._collect(list(self._garbage))
        self._being_laid = sorted(self._live, key=lambda slot: slot.first)
        return laying.moves(self._being_laid)

    def laid(self, lengths: Sequence[int]) -> None:
        """What llama.cpp says the sequences now hold. One that is not whole is let go; whoever
        starts from it evaluates it again."""
        for slot, length in zip(self._being_laid, lengths, strict=True):
            if length != len(slot.cells):
                self._edits.append(Remove(slot.sequence))
                self.cells.drop(slot.cells)
                slot.cells = slot.cells[:0]
        self._being_laid = []

    def place(self) -> None:
        """Move waiting replies into free sequences, in the order they came."""
        while self.waiting and len(self.running) < self._slots:
            reply = self.waiting[0]
            if not self._make_room(reply):
                break
            self.waiting.popleft()
            self._put(reply)
            self.running.append(reply)
            reply.announce()

    def plan(self) -> list[tuple[Reply, Row]]:
        """The next batch: a token for each reply being decoded, then prompts in order."""
        batch: list[tuple[Reply, Row]] = []
        for reply in list(self.running):
            if reply in self.running and reply.decoding and self._grow(reply):
                batch.append((reply, self._row(reply, 1)))
        batch = [(reply, row) for reply, row in batch if reply in self.running]
        budget = (PREFILL_BESIDE if batch else PREFILL_ALONE) + len(batch)
        for reply in self.running:
            left = budget - sum(len(row.tokens) for _, row in batch)
            if left <= 0:
                break
            if not reply.decoding and not self._waits_for_another(reply):
                batch.append((reply, self._row(reply, min(left, reply.waiting_tokens))))
        self._note_batch([reply.slot for reply, _ in batch if reply.slot is not None])
        return batch

    def remove(self, reply: Reply) -> None:
        """Take a running reply out and give its memory back."""
        self.running.remove(reply)
        self._vacate(reply)

    def drop_cancelled(self) -> list[Reply]:
        """Take out the replies nobody reads any longer; returns them."""
        running = [reply for reply in self.running if reply.cancelled]
        for reply in running:
            self.remove(reply)
        waiting = [reply for reply in self.waiting if reply.cancelled]
        for reply in waiting:
            self.waiting.remove(reply)
        return [*running, *waiting]

    def keep(self, reply: Reply, tokens: list[int], inside: int) -> LlamaState:
        """Take a running reply out and keep its first ``inside`` tokens as a state.

        ``tokens`` are what the state stands for; those after ``inside`` spell the rest of a reply
        that was cut in the middle of a token.
        """
        slot = reply.slot
        assert slot is not None
        self.cells.drop(slot.cells[reply.resident :])
        slot.cells = slot.cells[: reply.resident]
        self.running.remove(reply)
        reply.slot = None
        resident = min(reply.resident, inside)
        return LlamaState(tokens, resident, slot, self._token_bytes, self._free)

    def adopt(self, tokens: list[int], resident: int) -> LlamaState | None:
        """An empty sequence with cells for a state that is read from a file; None when full."""
        if not self._make_space(resident):
            return None
        slot = self._hold(Slot(self._sequences.pop(), self.cells.take(resident)))
        self._note_batch([slot])
        return LlamaState(tokens, resident, slot, self._token_bytes, self._free)

    def _hold(self, slot: Slot) -> Slot:
        self._live.add(slot)
        return slot

    def _free(self, slot: Slot) -> None:
        self._live.remove(slot)
        self._garbage.append(slot)
        self.on_free()

    def _note_batch(self, slots: list[Slot]) -> None:
        self._batches += 1
        for slot in slots:
            slot.first = slot.first or self._batches
            slot.last = self._batches

    def _on_top(self) -> list[Slot]:
        """Freed sequences evaluated after all that is still held: they leave no hole."""
        newest = max((slot.last for slot in self._live), default=0)
        return [slot for slot in self._garbage if slot.first > newest or not self._live]

    def _collect(self, slots: list[Slot]) -> None:
        """Give freed sequences back to llama.cpp.

        Unless memory is short only those that leave no hole, and none while replies run: llama.cpp
        fills holes first, and a reply whose tokens do not lie in the order of their positions is
        rounded differently (see ``UBATCH``).
        """
        for slot in slots:
            self._garbage.remove(slot)
            self.cells.drop(slot.cells)
            self._edits.append(Remove(slot.sequence))
            self._sequences.append(slot.sequence)

    def _make_room(self, reply: Reply) -> bool:
        """Room for the reply's whole prompt and a step of every running reply."""
        if self._make_space(self._step(reply)):
            return True
        if self.running:
            return False
        for pinning in [*(other for other in self.waiting if other is not reply), reply]:
            self._start_cold(pinning)
            if self._make_space(self._step(reply)):
                return True
        return False

    def _step(self, reply: Reply) -> int:
        """Cells the reply needs to be placed, and one for every reply that runs beside it."""
        return len(reply.tokens) - self._reusable(reply) + len(self.running)

    def _make_space(self, cells: int, *, sequences: int = 1) -> bool:
        while self.cells.free < cells or len(self._sequences) < sequences:
            if self._garbage:
                self._collect(list(self._garbage))
            elif not self.release_one():
                return False
        return True

    def _start_cold(self, reply: Reply) -> None:
        """Nothing runs and yet there is no room: a state that only a waiting request still holds is
        in the way, be it the one the next request starts from (which may share little of it). The
        request starts cold instead; the answer is the same, only later."""
        if reply.start is not None:
            reply.start.release()
            reply.start = None

    def _reusable(self, reply: Reply) -> int:
        """Tokens taken from the start state. The prompt's last token is evaluated in any case:
        its logits choose the reply's first (P06)."""
        if reply.start is None:
            return 0
        start = reply.start
        whole = len(reply.tokens) - 1
        return min(reply.job.reuse, start.resident, len(start.slot.cells), whole)

    def _put(self, reply: Reply) -> None:
        shared = self._reusable(reply)
        slot = self._hold(Slot(self._sequences.pop(), np.empty(0, dtype=np.int32)))
        if reply.start is not None:
            slot.cells = self.cells.share(reply.start.slot.cells[:shared])
            self._edits.append(Copy(reply.start.slot.sequence, slot.sequence, shared))
            reply.start.release()
            reply.start = None
        reply.resident = shared
        slot.cells = np.concatenate([slot.cells, self.cells.take(len(reply.tokens) - shared)])
        reply.slot = slot

    def _vacate(self, reply: Reply) -> None:
        if reply.slot is not None:
            self._free(reply.slot)
            reply.slot = None
        reply.resident = 0

    def _row(self, reply: Reply, count: int) -> Row:
        assert reply.slot is not None
        at = reply.resident
        tokens = reply.tokens[at : at + count]
        return Row(reply.slot.sequence, at, tokens, at + count == len(reply.tokens))

    def _grow(self, reply: Reply) -> bool:
        """One more cell for a reply being decoded, at the expense of the youngest if need be."""
        slot = reply.slot
        assert slot is not None
        if len(slot.cells) > reply.resident:
            return True
        while not self._make_space(1, sequences=0):
            youngest = self.running[-1]
            self.remove(youngest)
            self.waiting.appendleft(youngest)
            if youngest is reply:
                return False
        slot.cells = np.append(slot.cells, self.cells.take(1))
        return True

    def _waits_for_another(self, reply: Reply) -> bool:
        """Requests that arrive together often begin alike. The first evaluates what they have in
        common, the others share its cells; True while that is still on its way."""
        best, most = None, max(reply.resident, WORTH_SHARING)
        for other in self.running[: self.running.index(reply)]:
            common = common_length(reply.prompt, other.prompt)
            if common - reply.resident >= WORTH_SHARING and common > most:
                best, most = other, common
        if best is None:
            return False
        most = min(most, len(reply.tokens) - 1)
        if best.resident < most:
            return True
        self._share(best, reply, most)
        return False

    def _share(self, source: Reply, target: Reply, count: int) -> None:
        assert source.slot is not None and target.slot is not None
        slot = target.slot
        self._edits.append(Remove(slot.sequence))
        self._edits.append(Copy(source.slot.sequence, slot.sequence, count))
        self.cells.drop(slot.cells[:count])
        shared = self.cells.share(source.slot.cells[:count])
        slot.cells = np.concatenate([shared, slot.cells[count:]])
        target.resident = count
