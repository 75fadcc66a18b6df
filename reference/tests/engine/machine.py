"""A stand-in for llama.cpp under the real scheduler: it holds sequences of tokens and computes
nothing. What the scheduler plans is carried out here, and every plan is checked."""

from dataclasses import dataclass, field

from halogen_reference.engine.llama.context import Copy, Remove, Row, SequenceEdit
from halogen_reference.engine.llama.scheduler import PREFILL_ALONE, Scheduler
from halogen_reference.engine.llama.sequence import LlamaState, Reply
from halogen_reference.engine.protocol import Job


class Cell:
    """One cell of the cache: a token at its place, shared by all sequences that copied it."""

    def __init__(self, token: int) -> None:
        self.token = token


@dataclass
class Machine:
    """``slots`` replies at once in ``cells`` cells; each reply generates its prompt's length as a
    token, over and over."""

    cells: int
    slots: int = 4
    sequences: int = 16
    scheduler: Scheduler = field(init=False)
    memory: dict[int, list[Cell]] = field(default_factory=dict)
    batches: list[list[tuple[Reply, Row]]] = field(default_factory=list)
    states: list[LlamaState] = field(default_factory=list)
    finished: list[Reply] = field(default_factory=list)
    stopped: set[Reply] = field(default_factory=set)
    laid: int = 0
    """How often the kept states were laid anew."""

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(
            cells=self.cells, sequences=self.sequences, slots=self.slots, token_bytes=10
        )
        self.scheduler.release_one = self.release_one

    def release_one(self) -> bool:
        """Under pressure the oldest state goes."""
        if not self.states:
            return False
        self.states.pop(0).release()
        return True

    def submit(
        self,
        tokens: list[int],
        *,
        out: int = 1,
        keep: bool = False,
        start: LlamaState | None = None,
        reuse: int = 0,
    ) -> Reply:
        job = Job(tokens, start, reuse, max_tokens=out, keep=keep)
        reply = Reply(job, start.retain() if start else None)
        self.scheduler.waiting.append(reply)
        return reply

    def cancel(self, reply: Reply) -> None:
        """As the engine does between two batches."""
        if reply in self.scheduler.running:
            self.scheduler.remove(reply)
        if reply in self.scheduler.waiting:
            self.scheduler.waiting.remove(reply)
        self.drop_start(reply)
        self.stopped.add(reply)

    def drop_start(self, reply: Reply) -> None:
        if reply.start is not None:
            reply.start.release()
            reply.start = None

    def step(self) -> list[tuple[Reply, Row]]:
        """Lay anew, place, plan, check the plan, carry it out."""
        self.lay_anew()
        self.scheduler.place()
        batch = self.scheduler.plan()
        self.edit(self.scheduler.edits())
        self.check(batch)
        for reply, row in batch:
            self.memory.setdefault(row.sequence, []).extend(map(Cell, row.tokens))
            unread = len(reply.job.tokens) - reply.resident
            if reply.generated == 0:
                reply.evaluated += min(len(row.tokens), unread)
            reply.resident += len(row.tokens)
        self.check_memory()
        for reply, row in batch:
            if row.logits:
                self.advance(reply)
        if batch:
            self.batches.append(batch)
        return batch

    def run(self, steps: int = 3000) -> None:
        """Until nothing is left to do."""
        while self.scheduler.running or self.scheduler.waiting:
            assert steps, "no end in sight"
            self.step()
            steps -= 1

    def advance(self, reply: Reply) -> None:
        reply.tokens.append(len(reply.job.tokens))
        if reply.generated < reply.job.max_tokens:
            return
        if reply.job.keep:
            self.states.append(self.scheduler.keep(reply, list(reply.tokens), len(reply.tokens)))
        else:
            self.scheduler.remove(reply)
        self.drop_start(reply)
        self.finished.append(reply)

    def edit(self, edits: list[SequenceEdit]) -> None:
        for edit in edits:
            match edit:
                case Copy(source, target, count):
                    assert not self.memory.get(target), "copied onto a sequence in use"
                    assert len(self.memory.get(source, [])) >= count, "copied what is not there"
                    self.memory[target] = self.memory.get(source, [])[:count]
                case Remove(sequence, start):
                    self.memory[sequence] = self.memory.get(sequence, [])[:start]

    def lay_anew(self) -> None:
        """What the engine does before it places; here in no time."""
        moves = self.scheduler.lay_anew()
        if not moves:
            return
        self.edit(self.scheduler.edits())
        before, self.memory = self.memory, {}
        for move in moves:
            own = before.get(move.sequence, [])
            base = before.get(move.base, [])[: move.shared]
            assert own[: move.shared] == base, "cells that are not shared were taken for shared"
            assert len(own) == move.length
            laid = self.memory[move.base] if move.shared else []
            anew = [Cell(cell.token) for cell in own[move.shared :]]
            self.memory[move.sequence] = [*laid[: move.shared], *anew]
        self.scheduler.laid([len(self.memory[move.sequence]) for move in moves])
        cells = self.scheduler.cells
        in_use = {id(cell) for sequence in self.memory.values() for cell in sequence}
        assert len(in_use) == cells.used == self.scheduler.occupancy()[0], "something was left over"
        self.laid += 1

    def check(self, batch: list[tuple[Reply, Row]]) -> None:
        """A batch llama.cpp can take, of rows that follow on what their sequences hold."""
        assert sum(len(row.tokens) for _, row in batch) <= PREFILL_ALONE + self.slots
        assert len({row.sequence for _, row in batch}) == len(batch)
        for reply, row in batch:
            assert reply in self.scheduler.running and reply.slot is not None
            assert row.sequence == reply.slot.sequence
            assert row.tokens and row.position == reply.resident
            assert [cell.token for cell in self.memory.get(row.sequence, [])] == list(
                reply.tokens[: row.position]
            )
            end = row.position + len(row.tokens)
            assert list(row.tokens) == reply.tokens[row.position : end]
            assert row.logits is (end == len(reply.tokens))
            assert end <= len(reply.slot.cells), "a token without a cell"

    def check_memory(self) -> None:
        """llama.cpp never holds more cells than were granted."""
        cells = self.scheduler.cells
        assert cells.free + cells.used == self.cells
        in_use = {id(cell) for sequence in self.memory.values() for cell in sequence}
        assert len(in_use) <= cells.used
        assert len(self.scheduler.running) <= self.slots

    def check_empty(self) -> None:
        """Nothing is left once every state is released: no cell, no sequence."""
        while self.release_one():
            pass
        self.edit(self.scheduler.edits())
        assert self.scheduler.cells.free == self.cells
        assert not any(self.memory.values())
        assert sorted(self.scheduler._sequences) == list(range(self.sequences))
