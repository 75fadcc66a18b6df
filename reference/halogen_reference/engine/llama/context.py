"""The one llama.cpp context. Everything here runs on one thread, the engine's worker."""

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from halogen_reference.engine.llama.model import Model, ModelError

UBATCH = 63
"""Tokens llama.cpp evaluates at once. Its attention kernel rounds differently for 64 tokens and
more, and for a single one; between the two a token's result does not depend on what else is in the
batch, so that a forked, a branched, a batched and a cold reply are the same (FROM-6)."""


class DecodeFailed(Exception):
    """llama.cpp refused or failed a batch; the sequences in it cannot go on."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Share a sequence's tokens up to ``count`` with another: no cell is copied."""

    source: int
    target: int
    count: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class Remove:
    """Let go of a sequence's tokens from a position on."""

    sequence: int
    start: int = 0


SequenceEdit = Copy | Remove


@dataclass(frozen=True, slots=True)
class Move:
    """A sequence of ``length`` tokens to be laid anew, behind those laid before it. Its first
    ``shared`` tokens are the cells of ``base``, which is one of those."""

    sequence: int
    base: int
    shared: int
    length: int


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens of one sequence in a batch; ``logits``: the last one's output is wanted."""

    sequence: int
    position: int
    tokens: Sequence[int]
    logits: bool


class Context:
    """``cells`` KV cells shared by up to ``sequences`` sequences, at most ``batch`` tokens a step.

    Sequence ids run from 0; one more is used inside to keep a token from being evaluated alone.
    Raises ModelError when llama.cpp cannot make it (most often: not enough memory).
    """

    def __init__(
        self, model: Model, *, cells: int, sequences: int, batch: int, threads: int
    ) -> None:
        params = llama_cpp.llama_context_default_params()
        batch += 1
        # llama.cpp aborts the process when either is smaller than its number of sequences.
        params.n_ctx = max(cells, sequences) + 1
        params.n_batch = max(batch, sequences + 1)
        params.n_ubatch = UBATCH
        params.n_seq_max = sequences + 1
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        params.n_threads = params.n_threads_batch = threads
        params.kv_unified = True
        # A sliding-window cache forgets the cells a later fork needs.
        params.swa_full = True
        handle = llama_cpp.llama_init_from_model(model.handle, params)
        if not handle:
            raise ModelError(
                f"llama.cpp cannot make a context of {cells} cells: "
                "lower HALOGEN_KV_POOL_POSITIONS or HALOGEN_CTX"
            )
        self.handle = handle
        self._company = sequences
        self._vocab_size = model.vocab_size
        self._memory = llama_cpp.llama_get_memory(handle)
        self._tokens = np.zeros(batch, dtype=np.int32)
        self._positions = np.zeros(batch, dtype=np.int32)
        self._counts = np.ones(batch, dtype=np.int32)
        self._sequences = np.zeros(batch, dtype=np.int32)
        self._outputs = np.zeros(batch, dtype=np.int8)
        first = self._sequences.ctypes.data
        pointers = (ctypes.POINTER(ctypes.c_int32) * batch)()
        for index in range(batch):
            address = first + index * self._sequences.itemsize
            pointers[index] = ctypes.cast(address, ctypes.POINTER(ctypes.c_int32))
        self._pointers = pointers
        self._batch: Any = llama_cpp.llama_batch()
        self._batch.token = self._address(self._tokens, ctypes.c_int32)
        self._batch.pos = self._address(self._positions, ctypes.c_int32)
        self._batch.n_seq_id = self._address(self._counts, ctypes.c_int32)
        table: Any = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(ctypes.c_int32)))
        self._batch.seq_id = table
        self._batch.logits = self._address(self._outputs, ctypes.c_int8)

    def edit(self, edits: Iterable[SequenceEdit]) -> None:
        """Apply copies and removals, in order."""
        for edit in edits:
            match edit:
                case Copy(source, target, count, start):
                    llama_cpp.llama_memory_seq_cp(self._memory, source, target, start, count)
                case Remove(sequence, start):
                    llama_cpp.llama_memory_seq_rm(self._memory, sequence, start, -1)

    def decode(self, rows: Sequence[Row]) -> list[int]:
        """Evaluate a batch; returns, for each row that wants logits, where to find them."""
        outputs, at = [], 0
        for row in rows:
            end = at + len(row.tokens)
            self._tokens[at:end] = row.tokens
            self._positions[at:end] = np.arange(row.position, row.position + len(row.tokens))
            self._sequences[at:end] = row.sequence
            self._outputs[at:end] = 0
            if row.logits:
                self._outputs[end - 1] = 1
                outputs.append(end - 1)
            at = end
        alone = at % UBATCH == 1
        if alone:
            self._tokens[at] = self._positions[at] = self._outputs[at] = 0
            self._sequences[at] = self._company
        self._batch.n_tokens = at + alone
        status = llama_cpp.llama_decode(self.handle, self._batch)
        if alone:
            self.edit([Remove(self._company)])
        if status != 0:
            raise DecodeFailed(f"llama_decode returned {status}")
        return outputs

    def logits(self, output: int) -> npt.NDArray[np.float32]:
        """The logits at a place :meth:`decode` returned, as a copy."""
        return self.view(output).copy()

    def view(self, output: int) -> npt.NDArray[np.float32]:
        """The same without a copy: good until the next batch."""
        pointer = llama_cpp.llama_get_logits_ith(self.handle, output)
        return np.ctypeslib.as_array(pointer, shape=(self._vocab_size,))

    def export(self, edits: Iterable[SequenceEdit], sequence: int) -> bytearray:
        """A sequence's cells as bytes, after some edits."""
        self.edit(edits)
        size = llama_cpp.llama_state_seq_get_size(self.handle, sequence)
        data = bytearray(size)
        buffer = (ctypes.c_uint8 * size).from_buffer(data)
        written = llama_cpp.llama_state_seq_get_data(self.handle, buffer, size, sequence)
        del buffer
        return data[:written] if written != size else data

    def restore(
        self, edits: Iterable[SequenceEdit], sequence: int, data: memoryview, length: int
    ) -> int:
        """Fill an empty sequence from bytes, after some edits; tokens beyond ``length`` go.
        Returns how many tokens it then holds, 0 when llama.cpp does not take the bytes."""
        self.edit(edits)
        buffer = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        read = llama_cpp.llama_state_seq_set_data(self.handle, buffer, len(data), sequence)
        self.edit([Remove(sequence, length if read else 0)])
        return int(llama_cpp.llama_memory_seq_pos_max(self._memory, sequence)) + 1

    def lay_anew(self, edits: Iterable[SequenceEdit], moves: Sequence[Move]) -> list[int]:
        """Empty the cache, after some edits, and lay these sequences into it without holes. What
        they held passes through memory once. Returns how many tokens each then holds."""
        self.edit(edits)
        company, memory = self._company, self._memory
        tails = []
        for move in moves:
            own = Copy(move.sequence, company, move.length, move.shared)
            tails.append(self.export([own], company))
            self.edit([Remove(company)])
        llama_cpp.llama_memory_clear(memory, False)
        for move, tail in zip(moves, tails, strict=True):
            self.restore([], company, memoryview(tail), move.length)
            base = Copy(move.base, move.sequence, move.shared)
            own = Copy(company, move.sequence, move.length, move.shared)
            self.edit([base, own, Remove(company)])
        held = (llama_cpp.llama_memory_seq_pos_max(memory, move.sequence) for move in moves)
        return [int(last) + 1 for last in held]

    def close(self) -> None:
        llama_cpp.llama_free(self.handle)

    @staticmethod
    def _address(array: npt.NDArray[np.generic], kind: Any) -> Any:
        return array.ctypes.data_as(ctypes.POINTER(kind))
