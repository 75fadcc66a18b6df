"""The names of a simulated server: the reference's rules, with the release policy to choose.

Made for millions of requests: finding out what has expired costs nothing unless something has.
"""

import math
from collections.abc import Callable
from enum import IntEnum
from random import Random

from halogen_simulator.fleet.entry import Entry
from halogen_simulator.fleet.history import Piece
from halogen_simulator.fleet.memory import Memory, Segment
from halogen_simulator.fleet.policies import Policy


class Outcome(IntEnum):
    """What became of a request's start (FROM-1); ABSENT when it asked for none."""

    USED = 0
    UNMATCHED = 1
    UNKNOWN = 2
    ABSENT = 3


class Names:
    """At most ``cap`` live names (LIFE-3), each released ``ttl`` seconds after its last use ended
    (LIFE-1, LIFE-2). Cap 0: sessions are switched off."""

    def __init__(
        self,
        *,
        cap: float,
        ttl: float,
        policy: Policy,
        memory: Memory,
        clock: Callable[[], float],
        random: Random,
    ) -> None:
        self.cap, self.ttl = cap, ttl
        self.most = 0
        """Names live at once, at most, so far."""
        self._policy, self._memory, self._clock, self._random = policy, memory, clock, random
        self._serial = 0
        # Both least recently used first. Names in use never expire, so they are not in `_idle`.
        self._live: dict[str, Entry] = {}
        self._idle: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self.live())

    def live(self) -> list[str]:
        """Live names, least recently used first."""
        self._expire()
        return list(self._live)

    def begin(self, name: str | None, history: Piece) -> tuple[Outcome, Entry | None]:
        """Start from a name; every entry returned must be given to :meth:`end`."""
        if name is None or self.cap == 0:
            return Outcome.ABSENT, None
        self._expire()
        entry = self._live.get(name)
        if entry is None:
            return Outcome.UNKNOWN, None
        if not history.repeats(entry.history):
            return Outcome.UNMATCHED, None
        entry.users += 1
        entry.uses += 1
        self._touch(entry)
        return Outcome.USED, entry

    def end(self, entry: Entry) -> None:
        """The request that started from this entry is over."""
        entry.users -= 1
        self._touch(entry)

    def keep(self, name: str, history: Piece, segment: Segment, parent: str | None) -> None:
        """Put a state under a name (KEEP-3). Takes over the caller's hold on the segment."""
        if self.cap == 0:
            self._memory.drop(segment)
            return
        self._expire()
        entry = self._live.get(name)
        if entry is None:
            while len(self._live) >= self.cap:
                self.release(self._policy(self._live, self._random))
            self._serial += 1
            entry = Entry(name, self._serial, parent, history, segment, self._clock())
            self._live[name] = entry
            self.most = max(self.most, len(self._live))
        else:
            self._memory.drop(entry.segment)
            entry.history, entry.segment = history, segment
            # Going on from itself does not make a name its own parent.
            entry.parent = entry.parent if parent == name else parent
        entry.uses += 1
        self._touch(entry)

    def release(self, entry: Entry) -> None:
        """Let a name go; requests that use its state keep their hold on it (LIFE-6)."""
        del self._live[entry.name]
        self._idle.pop(entry.name, None)
        entry.live = False
        self._memory.drop(entry.segment)

    def give_memory(self) -> bool:
        """Release what the policy chooses, because memory is short. False when nothing is left."""
        self._expire()
        if not self._live:
            return False
        self.release(self._policy(self._live, self._random))
        return True

    def _touch(self, entry: Entry) -> None:
        entry.last_used = self._clock()
        if not entry.live:
            return
        name = entry.name
        self._live[name] = self._live.pop(name)
        self._idle.pop(name, None)
        if not entry.users:
            self._idle[name] = entry

    def _expire(self) -> None:
        if self.ttl == math.inf:
            return
        now = self._clock()
        while self._idle:
            entry = next(iter(self._idle.values()))
            if entry.last_used + self.ttl > now:
                return
            self.release(entry)
