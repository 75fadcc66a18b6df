"""Mistakes with the clock, the cap and the list (LIFE, LIST, KEEP-3)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from halogen_reference.engine.protocol import EngineEvent, EngineFailed, Job, Started
from halogen_reference.server import Server
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.names import Entry, NameTable
from halogen_simulator.engine import SimEngine
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.wire import KEEP, LIST, Asked, Edit
from halogen_simulator.state import SimState


class _NeverExpires(NameTable):
    def _expire(self) -> None:
        pass


class _ExpiresInListOnly(NameTable):
    """Expired names leave the list and can still be started from."""

    def live(self) -> list[Entry]:
        now = self._clock()
        return [entry for entry in self._entries.values() if entry.last_used_at + self.ttl > now]

    def _expire(self) -> None:
        pass


class _FromCreation(NameTable):
    def _expire(self) -> None:
        now = self._clock()
        for name, entry in list(self._entries.items()):
            if entry.created_at + self.ttl <= now:
                self.release(name)


class _ReadingIsNoUse(NameTable):
    """Only keeping restarts the clock."""

    def touch(self, entry: Entry) -> None:
        pass


class _ClockRunsInUse(NameTable):
    """The time of a use counts as unused time, and its end does not restart the clock."""

    def end_use(self, entry: Entry) -> None:
        entry.users -= 1

    def _expire(self) -> None:
        now = self._clock()
        for name, entry in list(self._entries.items()):
            if entry.last_used_at + self.ttl <= now:
                self.release(name)


class _ListingIsUse(NameTable):
    def live(self) -> list[Entry]:
        entries = super().live()
        for entry in entries:
            entry.last_used_at = self._clock()
        return entries


class _NoCap(NameTable):
    def _place(self, name: str, parent: str | None, source: str, owner: str | None) -> Entry:
        cap, self.cap = self.cap, 1_000_000
        try:
            return super()._place(name, parent, source, owner)
        finally:
            self.cap = cap


class _OneTooMany(NameTable):
    def _place(self, name: str, parent: str | None, source: str, owner: str | None) -> Entry:
        cap, self.cap = self.cap, self.cap + 1
        try:
            return super()._place(name, parent, source, owner)
        finally:
            self.cap = cap


class _RekeepEvicts(NameTable):
    """Keeping under a live name makes room as a new one would."""

    def keep(
        self, name: str, kept: Kept, *, parent: str | None, source: str, owner: str | None = None
    ) -> Entry:
        others = [other for other in self._entries if other != name]
        if name in self._entries and len(self._entries) >= self.cap and others:
            self.release(others[0])
        return super().keep(name, kept, parent=parent, source=source, owner=owner)


class _NewestFirst(NameTable):
    """Room is made by the name used last."""

    def release_least_recent(self) -> bool:
        for name in reversed(self._entries):
            self.release(name)
            return True
        return False


class _HidesNewest(NameTable):
    def live(self) -> list[Entry]:
        return super().live()[:-1]


class _ShowsReleased(NameTable):
    """Names that made room stay in the list."""

    def release_least_recent(self) -> bool:
        ghosts: list[Entry] = self.__dict__.setdefault("_ghosts", [])
        first = next(iter(self._entries.values()), None)
        if first is not None:
            ghosts.append(replace(first, lineages=[]))
        return super().release_least_recent()

    def live(self) -> list[Entry]:
        there = super().live()
        names = {entry.name for entry in there}
        ghosts: list[Entry] = self.__dict__.get("_ghosts", [])
        return [*there, *(ghost for ghost in ghosts if ghost.name not in names)]

    def __len__(self) -> int:
        return len(super().live())


class _ReleaseKills(NameTable):
    """Whoever started from a name that is released is cut off."""

    def release(self, name: str) -> None:
        for lineage in self._entries[name].lineages:
            state = lineage.kept.state
            if isinstance(state, SimState):
                _RELEASED.add(state)
        super().release(name)


class _CutOff(SimEngine):
    async def submit(self, job: Job) -> AsyncGenerator[EngineEvent]:
        async with aclosing(super().submit(job)) as events:
            async for event in events:
                if job.start in _RELEASED and not isinstance(event, Started):
                    raise EngineFailed("the state is gone")
                yield event


_RELEASED: WeakSet[SimState] = WeakSet()


def _release_kills(server: Server) -> None:
    parts.table(_ReleaseKills)(server)
    parts.engine(_CutOff)(server)


def _refuse_at_cap(asked: Asked) -> tuple[int, Any] | None:
    table = asked.server.sessions.table
    name = asked.header(KEEP)
    if asked.is_reply and name and table.find(name) is None and len(table) >= table.cap:
        message = "too many names are live"
        return 503, {"error": {"message": message, "type": "x", "param": None, "code": None}}
    return None


def _list_of_names(asked: Asked) -> tuple[int, Any] | None:
    if asked.path == LIST and asked.server.settings.fork:
        return 200, {"object": "list", "data": [], "max_handles": 8, "ttl_s": 600}
    return None


def _of(id: str, breaks: tuple[str, ...], sentence: str, part: type[NameTable]) -> Fault:
    return Fault(id, breaks, sentence, server=parts.table(part))


FAULTS = (
    _of("never-expires", ("LIFE-1", "FROM-5"), "Unused names live for ever.", _NeverExpires),
    _of(
        "expires-in-list-only",
        ("LIFE-1", "LIST-1", "FROM-5"),
        "Expired names leave the list and are still used.",
        _ExpiresInListOnly,
    ),
    _of("ttl-from-creation", ("LIFE-2",), "The clock is never restarted.", _FromCreation),
    _of(
        "reading-is-no-use",
        ("LIFE-2",),
        "Only keeping restarts the clock, starting from the name does not.",
        _ReadingIsNoUse,
    ),
    _of(
        "ttl-runs-in-use",
        ("LIFE-2",),
        "The clock runs on while the name is used.",
        _ClockRunsInUse,
    ),
    _of("listing-is-use", ("LIFE-2",), "Listing restarts every name's clock.", _ListingIsUse),
    _of("ignores-cap", ("LIFE-3",), "Any number of names is live.", _NoCap),
    _of("cap-one-too-many", ("LIFE-3",), "One name more than the cap is live.", _OneTooMany),
    Fault(
        "refuses-at-cap",
        ("LIFE-4",),
        "A keep that meets the cap is answered with a 503.",
        app=Edit(ask=_refuse_at_cap),
    ),
    _of(
        "shows-released",
        ("LIFE-4", "LIFE-3", "LIST-1"),
        "Names that made room stay in the list.",
        _ShowsReleased,
    ),
    _of(
        "evicts-newest",
        # Once the server is full no name outlives its own request.
        (
            "LIFE-5",
            "KEEP-3",
            "FROM-2",
            "FROM-3",
            "JOIN-1",
            "JOIN-3",
            "BRANCH-5",
            "LIST-1",
            "NAME-1",
            "MAP-1",
            "MAP-2",
            "MAP-3",
            "MAP-4",
            "MAP-8",
            "MAP-9",
        ),
        "Room is made by the name used last.",
        _NewestFirst,
    ),
    Fault(
        "release-kills-users",
        ("LIFE-6",),
        "A request fails when the name it started from is released meanwhile.",
        server=_release_kills,
    ),
    _of(
        "rekeep-evicts", ("KEEP-3",), "Keeping a live name at the cap costs another.", _RekeepEvicts
    ),
    _of(
        "list-hides-newest",
        ("LIST-1", "KEEP-1"),
        "The list leaves out the name used last.",
        _HidesNewest,
    ),
    Fault(
        "list-is-empty",
        ("LIST-1", "KEEP-1", "AUTH-1"),
        "The list never names anything.",
        app=Edit(ask=_list_of_names),
    ),
)
