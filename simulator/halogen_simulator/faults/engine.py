"""Mistakes of the engine: what it reads, what it reuses, what it hands over (FROM, KEEP-2)."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from halogen_reference.engine.protocol import EngineEvent, Job, State
from halogen_simulator.engine import Finished, SimEngine
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.state import SimState


class _ReadsAgain(SimEngine):
    """Says that a state is used and evaluates everything."""

    def _held(self, job: Job, start: SimState | None) -> int:
        return 0


class _Half(SimEngine):
    """Reuses only the first half of a state."""

    def _held(self, job: Job, start: SimState | None) -> int:
        return super()._held(job, start) // 2


class _Leaks(SimEngine):
    """What one fork of a state has read is read by the next, too."""

    def _read(self, job: Job, start: SimState | None) -> bytes:
        data = super()._read(job, start)
        if start is None:
            return data
        leaked: dict[int, bytes] = self.__dict__.setdefault("_leaked", {})
        new = self.vocabulary_of.marked(job.tokens[job.reuse :])
        before, leaked[start.number] = leaked.get(start.number, b""), new
        return data[: len(data) - len(new)] + before + new


class _KeepsStop(SimEngine):
    """The state of a reply that a stop string ended has the stop string in it."""

    def _keep(self, reply: Finished) -> SimState:
        state = super()._keep(reply)
        stop = reply.output.stop_string
        if stop is not None:
            tail = self.vocabulary_of.encode(stop, False)
            state.tokens = (*state.tokens, *tail)
            state.data += self.vocabulary_of.marked(tail)
        return state


class _LosesCutToken(SimEngine):
    """A reply cut by the token limit is kept without its last token."""

    def _keep(self, reply: Finished) -> SimState:
        state = super()._keep(reply)
        if len(reply.tokens) == reply.job.max_tokens:
            state.tokens = state.tokens[:-1]
            state.data = self.vocabulary_of.marked(state.tokens)
        return state


class _Sleepy(SimEngine):
    """Answers from a state with other words than without one."""

    def _read(self, job: Job, start: SimState | None) -> bytes:
        data = super()._read(job, start)
        return data.replace(b"e", b"", 1) if start is not None else data


class _Forgets(SimEngine):
    """A state that is read by several at once serves the first only; the others read nothing."""

    async def submit(self, job: Job) -> AsyncGenerator[EngineEvent]:
        readers: Counter[State | None] = self.__dict__.setdefault("_readers", Counter())
        readers[job.start] += 1
        try:
            async with aclosing(super().submit(job)) as events:
                async for event in events:
                    yield event
        finally:
            readers[job.start] -= 1

    def _read(self, job: Job, start: SimState | None) -> bytes:
        if start is not None and self.__dict__["_readers"][start] > 1:
            job = replace(job, start=None, reuse=0, tokens=job.tokens[job.reuse :])
            return super()._read(job, None)
        return super()._read(job, start)


def _of(id: str, breaks: tuple[str, ...], sentence: str, part: type[SimEngine]) -> Fault:
    return Fault(id, breaks, sentence, server=parts.engine(part))


FAULTS = (
    _of("reads-again", ("FROM-7",), "Says used and reads the whole history again.", _ReadsAgain),
    _of("reads-half-again", ("FROM-7",), "Says used and reads half the history again.", _Half),
    _of(
        "sibling-leak",
        ("FROM-3", "FROM-6"),
        "A fork has read what its sibling was told.",
        _Leaks,
    ),
    _of(
        "one-reader-at-a-time",
        ("FROM-3", "FROM-6", "KEEP-6"),
        "Of several forks at once only the first has the parent's text.",
        _Forgets,
    ),
    _of(
        "keeps-stop-string",
        ("KEEP-2",),
        "The stop string that ended a reply is part of the kept state.",
        _KeepsStop,
    ),
    _of(
        "loses-cut-token",
        ("KEEP-2", "FROM-6"),
        "A reply cut by the limit is kept without its last token.",
        _LosesCutToken,
    ),
    _of("other-words-when-used", ("FROM-6",), "A used state gives another answer.", _Sleepy),
)
