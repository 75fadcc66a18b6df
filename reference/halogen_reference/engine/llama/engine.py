"""The decode loop: one asyncio task that plans, one worker thread that computes.

All bookkeeping happens on the event loop between two batches; only llama.cpp's own calls run on
the worker, because only one thread may touch the context. While a batch is computed the event loop
is free to read requests and send events.
"""

import asyncio
import contextlib
import hashlib
import logging
import struct
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from halogen_reference.engine.llama.context import Context, DecodeFailed, Row, SequenceEdit
from halogen_reference.engine.llama.grammar import call_grammar
from halogen_reference.engine.llama.model import Model
from halogen_reference.engine.llama.sampler import Sampler
from halogen_reference.engine.llama.scheduler import PREFILL_ALONE, Scheduler
from halogen_reference.engine.llama.sequence import LlamaState, Reply
from halogen_reference.engine.protocol import (
    Done,
    EngineEvent,
    EngineFailed,
    Job,
    Pool,
    QueueTimeout,
    ReleaseOne,
    State,
    StateRejected,
)
from halogen_reference.prompt import ChatTemplate
from halogen_reference.reply import Finish, TokenLogprob

log = logging.getLogger(__name__)

SEQUENCES = 255
"""Sequences llama.cpp can tell apart: running replies and kept states together."""

EXPORT_PATIENCE_S = 1.0
"""Seconds a state waits for a quiet moment before it is read out between two batches."""

_RESIDENT = struct.Struct("<Q")
_R = TypeVar("_R")
Sampled = list[tuple[int, TokenLogprob | None] | None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much the engine holds. ``context`` and ``pool`` are in tokens."""

    context: int
    pool: int
    slots: int
    threads: int
    queue_timeout: float
    """Seconds a request may wait for its place."""


class LlamaEngine:
    """See :class:`~halogen_reference.engine.protocol.Engine`. Raises ModelError."""

    def __init__(self, model: Model, size: Size) -> None:
        self._model = model
        self._size = size
        self._context = Context(
            model,
            cells=size.pool,
            sequences=SEQUENCES,
            batch=PREFILL_ALONE + size.slots,
            threads=size.threads,
        )
        self.template = ChatTemplate(model.template, model.template_texts, model.prefix)
        self._scheduler = Scheduler(
            cells=size.pool,
            sequences=SEQUENCES,
            slots=size.slots,
            token_bytes=model.token_bytes,
        )
        self._worker = ThreadPoolExecutor(1, "llama")
        self._work = asyncio.Event()
        self._scheduler.on_free = self._work.set
        self._idle = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        settings = f"{model.fingerprint()}:{size.context}"
        self.fingerprint = hashlib.sha256(settings.encode()).hexdigest()

    @property
    def model_id(self) -> str:
        return self._model.name

    @property
    def context(self) -> int:
        return self._size.context

    @property
    def vocabulary(self) -> int:
        return self._model.vocab_size

    def encode(self, text: str, special: bool) -> Sequence[int]:
        return self._model.encode(text, special)

    def piece(self, token: int) -> bytes:
        return self._model.piece(token)

    def on_pressure(self, release_one: ReleaseOne) -> None:
        self._scheduler.release_one = release_one

    def pool(self) -> Pool:
        used, shared = self._scheduler.occupancy()
        return Pool(
            cells=self._scheduler.cells.total,
            used=used,
            shared=shared,
            running=len(self._scheduler.running),
            waiting=len(self._scheduler.waiting),
        )

    async def start(self) -> None:
        self._loop = asyncio.create_task(self._run(), name="decode loop")

    async def stop(self) -> None:
        """End every reply with EngineFailed and free llama.cpp's memory."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait([self._loop])
        await self._on_worker(lambda: None)
        for reply in [*self._scheduler.running, *self._scheduler.waiting]:
            reply.events.put_nowait(EngineFailed("the server is stopping"))
        self._worker.shutdown()
        self._context.close()
        self._model.close()

    async def submit(self, job: Job) -> AsyncGenerator[EngineEvent]:
        grammar = call_grammar(job.tools, job.tool_choice)
        try:
            sampler = Sampler(self._model, job.sampling, grammar)
        except ValueError as error:
            raise EngineFailed(str(error)) from None
        start = job.start.retain() if job.start is not None else None
        assert start is None or isinstance(start, LlamaState)
        reply = Reply(job, start)
        reply.sampler = sampler
        timeout = asyncio.get_running_loop().call_later(
            self._size.queue_timeout, self._give_up, reply
        )
        self._scheduler.waiting.append(reply)
        self._work.set()
        try:
            while True:
                event = await reply.events.get()
                if isinstance(event, Exception):
                    raise event
                yield event
                if isinstance(event, Done):
                    return
        finally:
            timeout.cancel()
            self._abandon(reply)

    async def export(self, state: State) -> bytearray:
        """Waits for a moment in which nothing runs, so that no reply is held up; not for ever."""
        assert isinstance(state, LlamaState)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), EXPORT_PATIENCE_S)
        edits = self._scheduler.edits()
        data = await self._on_worker(lambda: self._context.export(edits, state.slot.sequence))
        return bytearray(_RESIDENT.pack(state.resident)) + data

    async def restore(self, tokens: Sequence[int], data: bytes) -> State:
        if len(data) < _RESIDENT.size:
            raise StateRejected("the state is too short")
        (resident,) = _RESIDENT.unpack(data[: _RESIDENT.size])
        if not 0 < resident <= len(tokens):
            raise StateRejected("the state does not fit its tokens")
        state = self._scheduler.adopt(list(tokens), resident)
        if state is None:
            raise EngineFailed("no memory is free for a state from disk")
        edits, sequence = self._scheduler.edits(), state.slot.sequence
        whole = memoryview(data)[_RESIDENT.size :]
        held = await self._on_worker(
            lambda: self._context.restore(edits, sequence, whole, resident)
        )
        if held != resident:
            state.release()
            raise StateRejected("llama.cpp does not take the state")
        return state

    async def _on_worker(self, work: Callable[[], _R]) -> _R:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _give_up(self, reply: Reply) -> None:
        if reply in self._scheduler.waiting and not reply.placed_before:
            reply.events.put_nowait(QueueTimeout())

    def _abandon(self, reply: Reply) -> None:
        """The reader is gone, or has everything: forget the reply at the next step."""
        reply.cancelled = True
        while not reply.events.empty():
            event = reply.events.get_nowait()
            if isinstance(event, Done) and event.state is not None:
                event.state.release()
        self._work.set()

    async def _run(self) -> None:
        while True:
            for reply in self._scheduler.drop_cancelled():
                self._close(reply)
            await self._lay_anew()
            self._scheduler.place()
            batch = self._scheduler.plan()
            if self._scheduler.running:
                self._idle.clear()
            else:
                self._idle.set()
            edits = self._scheduler.edits()
            if not batch and not edits:
                self._work.clear()
                await self._work.wait()
                continue
            await self._step(edits, batch)

    async def _lay_anew(self) -> None:
        moves = self._scheduler.lay_anew()
        if not moves:
            return
        edits = self._scheduler.edits()
        try:
            lengths = await self._on_worker(lambda: self._context.lay_anew(edits, moves))
        except Exception:
            log.exception("the kept states could not be laid anew: they will be evaluated again")
            lengths = [0] * len(moves)
        self._scheduler.laid(lengths)

    async def _step(self, edits: list[SequenceEdit], batch: list[tuple[Reply, Row]]) -> None:
        try:
            sampled = await self._on_worker(lambda: self._compute(edits, batch))
        except DecodeFailed as error:
            log.error("a batch of %d sequences failed: %s", len(batch), error)
            self._fail([reply for reply, _ in batch])
            return
        except Exception:
            # A fault of ours must not leave everybody waiting for a loop that has ended.
            log.exception("a batch of %d sequences failed", len(batch))
            self._fail([reply for reply, _ in batch])
            return
        for (reply, row), choice in zip(batch, sampled, strict=True):
            reply.note_evaluated(len(row.tokens))
            if choice is not None and not reply.cancelled:
                self._advance(reply, *choice)

    def _compute(self, edits: list[SequenceEdit], batch: list[tuple[Reply, Row]]) -> Sampled:
        """On the worker: evaluate a batch and choose each finished row's next token."""
        self._context.edit(edits)
        if not batch:
            return []
        outputs = iter(self._context.decode([row for _, row in batch]))
        sampled: Sampled = []
        for reply, row in batch:
            if not row.logits:
                sampled.append(None)
                continue
            assert reply.sampler is not None
            sampled.append(reply.sampler.sample(self._context, next(outputs)))
        return sampled

    def _advance(self, reply: Reply, token: int, logprob: TokenLogprob | None) -> None:
        """One token was chosen: show its text, and end the reply if it is the last."""
        job = reply.job
        if job.max_tokens == 0:
            self._finish(reply, Finish.LENGTH)
            return
        if self._model.ends_turn(token):
            self._finish(reply, Finish.END_OF_TURN)
            return
        reply.tokens.append(token)
        text = reply.text.feed(self._model.piece(token), logprob)
        if text is not None:
            reply.events.put_nowait(text)
        if reply.text.stop_string is not None:
            self._finish(reply, Finish.STOP_STRING)
        elif reply.text.complete:
            self._finish(reply, Finish.END_OF_TURN)
        elif reply.generated >= job.max_tokens:
            self._finish(reply, Finish.LENGTH)

    def _finish(self, reply: Reply, finish: Finish) -> None:
        rest = reply.text.finish()
        if rest is not None:
            reply.events.put_nowait(rest)
        output = reply.generated
        state = self._keep(reply) if reply.job.keep else None
        if state is None:
            self._scheduler.remove(reply)
        self._close(reply)
        done = Done(finish, reply.evaluated, output, reply.text.stop_string, state)
        reply.events.put_nowait(done)

    def _keep(self, reply: Reply) -> LlamaState:
        count, uncovered = reply.text.tokens_inside()
        inside = len(reply.job.tokens) + count
        tokens = reply.tokens[:inside] + list(self.encode(uncovered, False) if uncovered else ())
        return self._scheduler.keep(reply, tokens, inside)

    def _fail(self, replies: list[Reply]) -> None:
        for reply in replies:
            self._scheduler.remove(reply)
            self._close(reply)
            reply.events.put_nowait(EngineFailed("the model failed on this request"))

    def _close(self, reply: Reply) -> None:
        if reply.start is not None:
            reply.start.release()
            reply.start = None
        if reply.sampler is not None:
            reply.sampler.close()
            reply.sampler = None
