"""The names that are live: a table with a clock and a cap (LIFE, LIST)."""

from collections.abc import Callable
from dataclasses import dataclass

from halogen_reference.sessions.kept import Kept


@dataclass(slots=True, eq=False)
class Entry:
    """One live name. Times are Unix seconds."""

    name: str
    kept: Kept
    parent: str | None
    """The name it was started from."""
    source: str
    """What made the name: ``header``, or the mapping's name."""
    created_at: float
    last_used_at: float
    users: int = 0
    """Requests that started from it and have not ended: its clock stands still for them."""


class NameTable:
    """Live names, at most ``cap``, each released ``ttl`` seconds after its last use ended.

    One event loop calls it, so no call sees another half done. The table owns one reference of
    each state it holds and releases it when the name goes; whoever starts from a state takes a
    reference of its own, so a name may go while its state is in use (LIFE-6).
    """

    def __init__(self, *, ttl: float, cap: int, clock: Callable[[], float]) -> None:
        self.ttl, self.cap = ttl, cap
        self._clock = clock
        # Least recently used first: every use moves the name to the end.
        self._entries: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self.live())

    def live(self) -> list[Entry]:
        """Every live name, least recently used first. Listing is not a use (LIFE-2)."""
        self._expire()
        return list(self._entries.values())

    def find(self, name: str) -> Entry | None:
        """The entry of a live name; looking is not a use."""
        self._expire()
        return self._entries.get(name)

    def expires_at(self, entry: Entry) -> float:
        """When an entry goes if nothing uses it; while in use, counted from now."""
        return (self._clock() if entry.users else entry.last_used_at) + self.ttl

    def keep(self, name: str, kept: Kept, *, parent: str | None, source: str) -> Entry:
        """Put a state under a name, in place of what was there (KEEP-3).

        Takes over the caller's reference. A new name that meets the cap releases the least
        recently used one first (LIFE-3, LIFE-5).
        """
        self._expire()
        now = self._clock()
        old = self._entries.pop(name, None)
        if old is not None:
            old.kept.state.release()
        while len(self._entries) >= self.cap:
            self.release_least_recent()
        entry = Entry(name, kept, parent, source, old.created_at if old else now, now)
        self._entries[name] = entry
        return entry

    def begin_use(self, entry: Entry) -> None:
        """A request starts from this entry."""
        entry.users += 1
        self._touch(entry)

    def end_use(self, entry: Entry) -> None:
        """That request has ended: the clock starts anew from here (LIFE-2)."""
        entry.users -= 1
        self._touch(entry)

    def release(self, name: str) -> None:
        """Let a live name go."""
        self._entries.pop(name).kept.state.release()

    def release_least_recent(self) -> bool:
        """Let the least recently used name go. False when there is none."""
        self._expire()
        for name in self._entries:
            self.release(name)
            return True
        return False

    def _touch(self, entry: Entry) -> None:
        entry.last_used_at = self._clock()
        if self._entries.get(entry.name) is entry:
            self._entries[entry.name] = self._entries.pop(entry.name)

    def _expire(self) -> None:
        now = self._clock()
        gone = [
            name
            for name, entry in self._entries.items()
            if not entry.users and entry.last_used_at + self.ttl <= now
        ]
        for name in gone:
            self.release(name)
