"""The engine without a model. Everything happens on the event loop; nothing takes time unless a
pace or a script says so."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field

from halogen_reference.engine.protocol import (
    Done,
    EngineEvent,
    EngineFailed,
    Job,
    Pool,
    QueueTimeout,
    ReleaseOne,
    Started,
    State,
    StateRejected,
)
from halogen_reference.reply import Finish
from halogen_simulator import stage
from halogen_simulator.calls import planned_calls
from halogen_simulator.chatml import ChatMl
from halogen_simulator.ledger import Ledger, Record
from halogen_simulator.logprobs import logprob
from halogen_simulator.output import Output, Plain, Watched, piece_sizes, take
from halogen_simulator.pace import Pace, Seat
from halogen_simulator.places import Place, Places
from halogen_simulator.pool import Cells
from halogen_simulator.script import Line, Script
from halogen_simulator.state import BYTES_PER_TOKEN, SimState, exported, imported
from halogen_simulator.vocabulary import vocabulary
from halogen_simulator.words import WORDS
from halogen_simulator.writer import Writer, open_turn


@dataclass(frozen=True, slots=True)
class Size:
    """How much the engine holds. ``context`` and ``pool`` are in tokens."""

    context: int = 8192
    pool: int = 16384
    slots: int = 8
    queue_timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class Character:
    """What the simulated model is like."""

    seed: int = 0
    """Another seed is another model: other words, another fingerprint."""
    reply_words: int = 24
    reasoning: bool = False
    """Every reply opens with a reasoning block."""
    script: Script = field(default_factory=Script)
    pace: Pace | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A reply at its end. ``data``: the bytes that were read before it, ``tokens``: its own."""

    job: Job
    data: bytes
    output: Output
    tokens: list[int]
    place: Place
    record: Record


class SimEngine:
    """See :class:`halogen_reference.engine.protocol.Engine`."""

    def __init__(self, size: Size | None = None, character: Character | None = None) -> None:
        self._size, self._character = size or Size(), character or Character()
        self.vocabulary_of = vocabulary()
        self.template = ChatMl()
        self.ledger = Ledger()
        self.model_id = "halogen-simulator"
        made_of = repr((self._character.seed, WORDS)).encode()
        settings = (self._character.seed, self._size.context, WORDS)
        self.fingerprint = hashlib.sha256(repr(settings).encode()).hexdigest()
        self.writer = Writer(
            self.vocabulary_of,
            hashlib.sha256(made_of).digest(),
            self._character.reply_words,
            self._character.reasoning,
        )
        self._pace = self._character.pace
        self._token_bytes = self._pace.token_bytes if self._pace else BYTES_PER_TOKEN
        self._places = Places(Cells(self._size.pool), self._size.slots, self._size.queue_timeout)

    @property
    def context(self) -> int:
        return self._size.context

    @property
    def vocabulary(self) -> int:
        return len(self.vocabulary_of)

    def encode(self, text: str, special: bool) -> Sequence[int]:
        return self.vocabulary_of.encode(text, special)

    def piece(self, token: int) -> bytes:
        return self.vocabulary_of.piece(token)

    def on_pressure(self, release_one: ReleaseOne) -> None:
        self._places.release_one = release_one

    def pool(self) -> Pool:
        places = self._places
        cells = places.cells
        return Pool(
            cells=cells.total,
            used=cells.used,
            shared=cells.shared,
            running=len(places.running),
            waiting=len(places.waiting),
        )

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop: replies end with the requests they belong to."""

    async def submit(self, job: Job) -> AsyncGenerator[EngineEvent]:
        start = job.start.retain() if job.start is not None else None
        assert start is None or isinstance(start, SimState)
        request = self.ledger.next_request()
        place: Place | None = None
        seat = self._pace.seat() if self._pace else None
        try:
            data = self._read(job, start)
            line = stage.line(self._character.script, request, data)
            if line is not None and line.busy:
                raise QueueTimeout
            held = self._held(job, start)
            place = await self._places.enter(len(job.tokens), start, held)
            evaluated = len(job.tokens) - held
            number = start.number if start else None
            record = Record(request, number, len(job.tokens), held, evaluated)
            self.ledger.records.append(record)
            self.ledger.evaluated += evaluated
            if start is not None:
                start.release()
                start = None
            yield Started()
            if line is not None and line.delay_s:
                await asyncio.sleep(line.delay_s)
            if seat is not None:
                await seat.read(evaluated, job.max_tokens)
            async for event in self._reply(job, data, line, place, record, seat):
                yield event
        finally:
            if seat is not None:
                seat.leave()
            if start is not None:
                start.release()
            if place in self._places.running:
                self._places.leave(place)

    async def export(self, state: State) -> bytes:
        assert isinstance(state, SimState)
        return exported(state.data, state.resident)

    async def restore(self, tokens: Sequence[int], data: bytes) -> State:
        """Raises StateRejected when the bytes are not what the tokens stand for."""
        resident, memory = imported(data)
        if resident > len(tokens):
            raise StateRejected("the state does not fit its tokens")
        if not all(0 <= token < self.vocabulary for token in tokens):
            raise StateRejected("the state has tokens of another model")
        if memory != self.vocabulary_of.marked(tokens):
            raise StateRejected("the state is not what its tokens stand for")
        return self._new_state(tokens, memory, resident, self._cells_for(resident), None)

    def _cells_for(self, resident: int) -> Place:
        cells = self._places.cells
        while cells.free < resident:
            if not self._places.release_one():
                raise EngineFailed("no memory is free for a state from disk")
        return Place(0, cells.fork(None, 0, resident), resident)

    def _held(self, job: Job, start: SimState | None) -> int:
        """Tokens that need not be evaluated. The prompt's last is in any case: it chooses the
        reply's first (P06)."""
        return min(job.reuse, start.resident, len(job.tokens) - 1) if start is not None else 0

    def _read(self, job: Job, start: SimState | None) -> bytes:
        """The bytes the model has read: the state's own, then those of the new tokens."""
        marked = self.vocabulary_of.marked
        if start is None or not job.reuse:
            return marked(job.tokens)
        whole = job.reuse == len(start.tokens)
        known = start.data if whole else start.data[: len(marked(start.tokens[: job.reuse]))]
        return known + marked(job.tokens[job.reuse :])

    def _units(self, job: Job, data: bytes, line: Line | None) -> Iterator[Sequence[int]]:
        sampling = job.sampling
        said = line.said if line else None
        if said is not None:
            begun = open_turn(data)
            left: bytes | None = said[len(begun) :] if said.startswith(begun) else said
        else:
            left = planned_calls(self.writer, job, data)
        if left is not None:
            return self.writer.spell(left, self.writer.digest(data))
        seeded = sampling.seed if sampling.temperature > 0 else None
        return self.writer.units(data, b"" if seeded is None else b"%d" % seeded)

    async def _reply(
        self,
        job: Job,
        data: bytes,
        line: Line | None,
        place: Place,
        record: Record,
        seat: Seat | None,
    ) -> AsyncGenerator[EngineEvent]:
        output, tokens = self._output(job), list[int]()
        finish = Finish.LENGTH if job.max_tokens < 1 else None
        released = 0
        sizes = piece_sizes(streamed=job.streamed, hurried=seat is None and line is None)
        units = self._units(job, data, line)
        while finish is None:
            if line is not None:
                await stage.act(line, released)
            group = take(units, next(sizes), job.max_tokens - len(tokens))
            if not group:
                finish = Finish.END_OF_TURN
            for part in self._parts(group, output):
                if seat is not None:
                    await seat.step()
                await self._places.grow(place, len(part))
                tokens += part
                shown = output.feed(part)
                if shown is not None:
                    released += 1
                    yield shown
                if output.complete:
                    stopped = output.stop_string is not None
                    finish = Finish.STOP_STRING if stopped else Finish.END_OF_TURN
                    break
            if finish is None and len(tokens) >= job.max_tokens:
                finish = Finish.LENGTH
        rest = output.finish()
        if rest is not None:
            yield rest
        record.output, record.finish = len(tokens), finish.value
        state = None
        if job.keep:
            # Its cells may be lent to an older reply at this moment.
            await self._places.grow(place, 0)
            state = self._keep(Finished(job, data, output, tokens, place, record))
        else:
            self._places.leave(place)
        yield Done(finish, record.evaluated, len(tokens), output.stop_string, state)

    def _output(self, job: Job) -> Output:
        if any(job.stop) or job.last or job.sampling.logprobs is not None:
            return Watched(job, self.piece, lambda token: logprob(self.vocabulary_of, job, token))
        return Plain(self.vocabulary_of.pieces)

    def _parts(self, group: list[int], output: Output) -> Iterator[list[int]]:
        """What is fed at a time: all at once where nobody looks."""
        if output.singly or self._pace is not None:
            return ([token] for token in group)
        return iter([group] if group else [])

    def _keep(self, reply: Finished) -> SimState:
        """The state ends where the released text ends (KEEP-2)."""
        job, tokens, record = reply.job, reply.tokens, reply.record
        count, uncovered = reply.output.tokens_inside()
        inside = len(job.tokens) + count
        rest = self.encode(uncovered, False) if uncovered else ()
        own = [*tokens[:count], *rest]
        # A token that nothing was chosen after has not been evaluated yet.
        evaluated = len(job.tokens) + len(tokens)
        if tokens and record.finish != Finish.END_OF_TURN.value:
            evaluated -= 1
        resident = min(inside, evaluated)
        place = reply.place
        self._places.hand_over(place)
        assert place.run is not None
        place.run = self._places.cells.cut(place.run, resident)
        read = reply.data + self.vocabulary_of.marked(own)
        whole = [*job.tokens, *own]
        state = self._new_state(whole, read, resident, place, record.state)
        record.kept = state.number
        self._places.settle()
        return state

    def _new_state(
        self, tokens: Sequence[int], data: bytes, resident: int, place: Place, parent: int | None
    ) -> SimState:
        assert place.run is not None
        number = self.ledger.next_state()
        state = SimState(
            number, parent, tokens, data, resident, place.run, self._free, self._token_bytes
        )
        self.ledger.states[number] = state
        return state

    def _free(self, state: SimState) -> None:
        del self.ledger.states[state.number]
        self._places.cells.drop(state.run)
        self._places.settle()
