"""One simulated server: sessions, memory, and a batch loop whose time runs without its steps.

All replies being decoded advance together, one token a batch, while prompts are read one after the
other in chunks beside them. Between two changes (a prompt read, a reply ended, a request placed)
these speeds are constant, so the next change is computed and nothing happens in between: a request
costs a handful of events, however long it is.
"""

import heapq
import math
from collections import deque
from random import Random

import simpy

from halogen_simulator.fleet.agents import Ask
from halogen_simulator.fleet.entry import Entry
from halogen_simulator.fleet.memory import Memory, Segment
from halogen_simulator.fleet.names import Names, Outcome
from halogen_simulator.fleet.policies import POLICIES
from halogen_simulator.fleet.record import Record
from halogen_simulator.fleet.service import Service
from halogen_simulator.profile import Profile


class Job:
    """A request at a server, from its arrival to its end."""

    __slots__ = (
        "arrived",
        "ask",
        "done",
        "entry",
        "evaluated",
        "first",
        "outcome",
        "segment",
        "start",
        "unread",
    )

    def __init__(self, ask: Ask, outcome: Outcome, entry: Entry | None, env: simpy.Environment):
        self.ask, self.outcome, self.entry = ask, outcome, entry
        self.arrived: float = env.now
        self.first = 0.0
        self.done: simpy.Event = env.event()
        self.start: Segment | None = entry.segment if entry else None
        """The state it starts from, held until the request has memory of its own."""
        self.segment: Segment | None = None
        prompt = ask.history.total
        # The prompt's last token is read in any case: its logits choose the reply's first.
        self.evaluated = max(prompt - entry.history.total, 1) if entry else prompt
        self.unread = float(self.evaluated)


class Replica:
    """A server. Give it a request with :meth:`submit`, wait for the event it returns."""

    def __init__(
        self,
        env: simpy.Environment,
        service: Service,
        profile: Profile,
        record: Record,
        random: Random,
    ) -> None:
        self._env, self._profile, self._record = env, profile, record
        self._slots = service.slots
        self.memory = Memory(service.pool, lambda: float(env.now))
        self.names = Names(
            cap=service.cap,
            ttl=service.ttl,
            policy=POLICIES[service.policy],
            memory=self.memory,
            clock=lambda: float(env.now),
            random=random,
        )
        self.load: int = 0
        """Requests that are here now."""
        self._waiting: deque[Job] = deque()
        self._reading: deque[Job] = deque()
        # (tokens each running reply must have got when this one ends, number, job)
        self._decoding: list[tuple[float, int, Job]] = []
        self._number = 0
        self._tokens = 0.0
        """Tokens that a reply has got which has been decoding from the beginning."""
        self._token_s = math.inf
        """Seconds a token of every running reply takes now."""
        self._read_speed = 0.0
        """Tokens of prompt read each second now."""
        self._since = 0.0
        self._turn = 0
        """Numbers the plans: an alarm of an older one is ignored."""

    def submit(self, ask: Ask) -> simpy.Event:
        """A request arrives. The event happens when its reply is complete."""
        outcome, entry = self.names.begin(ask.start_from, ask.history)
        job = Job(ask, outcome, entry, self._env)
        if job.start is not None:
            self.memory.hold(job.start)
        self.load += 1
        self._waiting.append(job)
        self._advance()
        self._place()
        self._plan()
        return job.done

    def _place(self) -> None:
        """Waiting requests get memory as they came; kept states go before anyone waits."""
        while self._waiting and len(self._reading) + len(self._decoding) < self._slots:
            job = self._waiting[0]
            if not self._make_room(job):
                return
            self._waiting.popleft()
            job.segment = self.memory.take(job.start, job.evaluated + job.ask.reply)
            self.memory.drop(job.start)
            job.start = None
            if self._profile.instant:
                self._end(job)
            else:
                self._reading.append(job)

    def _make_room(self, job: Job) -> bool:
        """Room for what is to be read and the whole reply; False when others must end first."""
        while self.memory.free < job.evaluated + job.ask.reply:
            if self.names.give_memory():
                continue
            if self._reading or self._decoding:
                return False
            self._drop_starts(job)
        return True

    def _drop_starts(self, head: Job) -> None:
        """Nothing runs, no name is left, and yet there is no room: states that waiting requests
        hold are in the way. They read everything instead, the last come first."""
        for job in reversed(self._waiting):
            if job.start is not None:
                self.memory.drop(job.start)
                job.start = None
                job.evaluated = job.ask.history.total
                job.unread = float(job.evaluated)
                return
        need = head.evaluated + head.ask.reply
        raise ValueError(
            f"a request needs {need:,} tokens of memory and the pool has {self.memory.cells:,.0f}: "
            "set a larger pool, or a smaller context"
        )

    def _advance(self) -> None:
        """Bring what is being read and decoded up to now."""
        now: float = self._env.now
        passed, self._since = now - self._since, now
        if passed <= 0:
            return  # and speeds may be infinite
        if self._decoding:
            self._tokens += passed / self._token_s
        if self._reading:
            self._reading[0].unread -= passed * self._read_speed

    def _plan(self) -> None:
        """Work out the speeds from here on and when the next change comes."""
        self._turn += 1
        if not self._reading and not self._decoding:
            self._tokens = 0.0
            return
        replies, profile = len(self._decoding), self._profile
        self._token_s = profile.batch_s(replies, reading=bool(self._reading))
        read, decoded = math.inf, math.inf
        if self._reading:
            chunk = profile.chunk_beside if replies else profile.chunk_alone
            self._read_speed = chunk / self._token_s if self._token_s else math.inf
            read = max(self._reading[0].unread, 0.0) / self._read_speed
        if self._decoding:
            decoded = max(self._decoding[0][0] - self._tokens, 0.0) * self._token_s
        step = self._read_done if read <= decoded else self._decode_done
        alarm = self._env.timeout(min(read, decoded), self._turn)
        assert alarm.callbacks is not None
        alarm.callbacks.append(step)

    def _read_done(self, alarm: simpy.Event) -> None:
        if alarm.value != self._turn:
            return
        self._advance()
        job = self._reading.popleft()
        # The batch that reads the last of a prompt also gives the reply's first token.
        job.first = self._env.now
        if job.ask.reply <= 1:
            self._end(job)
        else:
            self._number += 1
            ends = self._tokens + job.ask.reply - 1
            heapq.heappush(self._decoding, (ends, self._number, job))
        self._place()
        self._plan()

    def _decode_done(self, alarm: simpy.Event) -> None:
        if alarm.value != self._turn:
            return
        self._advance()
        ends, _, job = heapq.heappop(self._decoding)
        # What rounding has left over must not delay the others.
        self._tokens = max(self._tokens, ends)
        self._end(job)
        self._place()
        self._plan()

    def _end(self, job: Job) -> None:
        ask, segment, entry = job.ask, job.segment, job.entry
        assert segment is not None
        if ask.keep is None:
            self.memory.drop(segment)
        else:
            self.names.keep(ask.keep, ask.answer, segment, entry.name if entry else None)
        if entry is not None:
            self.names.end(entry)
        self.load -= 1
        first = job.first if not self._profile.instant else self._env.now
        prompt = ask.history.total
        self._record.add(ask, job.outcome, prompt, job.evaluated, first - job.arrived)
        job.done.succeed()
