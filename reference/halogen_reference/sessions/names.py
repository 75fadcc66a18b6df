"""The names that are live: a table with a clock and a cap (LIFE, LIST)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from halogen_reference.sessions.kept import Kept


@dataclass(slots=True, eq=False)
class Lineage:
    """A kept conversation under a name, and whether a later request has gone on from it."""

    kept: Kept
    confirmed: bool = False
    beside: Kept | None = None
    """The conversation it went on from the inside of, leaving that one's end out. Once this one
    goes on itself, the other's end was most likely a side request's: a recap, a compaction."""

    @property
    def worth(self) -> int:
        """What makes room first: a request without tools that never went on is a title or a
        probe, not a conversation."""
        return 2 if self.confirmed else bool(self.kept.conversation.tools)


def _least(lineages: list[Lineage]) -> Lineage:
    """What makes room first, of equals the one unused for longest. Of many that have gone on, only
    the latest are sure to be in use: a long session leaves one behind at every compaction."""
    gone_on = [there for there in lineages if there.confirmed]
    left_behind = gone_on[: -len(lineages) // 2]
    return min(lineages, key=lambda there: 1 if there in left_behind else there.worth)


@dataclass(slots=True, eq=False)
class Entry:
    """One live name. Times are Unix seconds.

    A name given by a header holds one conversation. A mapped thread may hold several: which of
    them is the thread is known only when it goes on (see ``threads``).
    """

    name: str
    parent: str | None
    """The name it was started from."""
    source: str
    """What made the name: ``header``, or the mapping's name."""
    created_at: float
    last_used_at: float
    owner: str | None = None
    """Whose key made it; None: everybody's (AUTH-3)."""
    lineages: list[Lineage] = field(default_factory=list)
    """Newest last. Empty while the state is only on disk."""
    users: int = 0
    """Requests that started from it and have not ended: its clock stands still for them."""
    tokens: int = 0
    """Tokens of the newest conversation."""
    size: int = 0
    """Bytes of the newest conversation's state."""
    live: bool = True
    on_disk: bool = False
    """A whole file of the conversation kept last is on disk."""

    @property
    def kept(self) -> Kept:
        """The newest conversation; not to be asked of a name that sleeps on disk."""
        return self.lineages[-1].kept


class Witness(Protocol):
    """Told of every change that a copy elsewhere must follow."""

    def kept(self, entry: Entry) -> None: ...

    def used(self, entry: Entry) -> None: ...

    def released(self, entry: Entry) -> None: ...


class NameTable:
    """Live names, at most ``cap``, each released ``ttl`` seconds after its last use ended.

    One event loop calls it, so no call sees another half done. The table owns one reference of
    each state it holds and releases it when the name goes; whoever starts from a state takes a
    reference of its own, so a name may go while its state is in use (LIFE-6).
    """

    def __init__(
        self,
        *,
        ttl: float,
        cap: int,
        clock: Callable[[], float],
        witness: Witness | None = None,
    ) -> None:
        self.ttl, self.cap = ttl, cap
        self._clock = clock
        self._witness = witness
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

    def keep(
        self, name: str, kept: Kept, *, parent: str | None, source: str, owner: str | None = None
    ) -> Entry:
        """Put a state under a name, in place of all that was there (KEEP-3).

        Takes over the caller's reference. A new name that meets the cap releases the least
        recently used one first (LIFE-3, LIFE-5).
        """
        entry = self._place(name, parent, source, owner)
        self._forget_states(entry)
        self._hold(entry, Lineage(kept))
        return entry

    def add(
        self,
        name: str,
        lineage: Lineage,
        *,
        instead_of: Kept | None,
        most: int,
        parent: str | None,
        source: str,
        owner: str,
    ) -> Entry:
        """Put one more conversation under a name, or put it in the place of one that it continues.

        Beyond ``most`` the least worth makes room, of equals the one unused for longest. A title
        or a probe makes no conversation go.
        """
        old = self._entries.get(name)
        entry = self._place(name, old.parent if old else parent, source, owner)
        for there in entry.lineages:
            if there.kept is instead_of:
                for other in entry.lineages:
                    other.confirmed = other.confirmed and other.kept is not there.beside
                self._drop(entry, there)
                break
        if len(entry.lineages) >= most:
            least = _least(entry.lineages)
            if least.worth > lineage.worth == 0:
                lineage.kept.state.release()
                return entry
            self._drop(entry, least)
        self._hold(entry, lineage)
        return entry

    def adopt(self, entry: Entry) -> bool:
        """Take in a name found on disk, the one used last first; False when it is too old or one
        too many. Only before anything else is kept."""
        if entry.last_used_at + self.ttl <= self._clock() or len(self._entries) >= self.cap:
            return False
        self._entries = {entry.name: entry, **self._entries}
        return True

    def wake(self, entry: Entry, kept: Kept) -> None:
        """Give a sleeping name its state back. Takes over the caller's reference."""
        if entry.live and not entry.lineages:
            entry.lineages.append(Lineage(kept, confirmed=True))
        else:
            kept.state.release()

    def begin_use(self, entry: Entry) -> None:
        """A request starts from this entry."""
        entry.users += 1
        self.touch(entry)

    def end_use(self, entry: Entry) -> None:
        """That request has ended: the clock starts anew from here (LIFE-2)."""
        entry.users -= 1
        self.touch(entry)

    def touch(self, entry: Entry) -> None:
        """Note a use."""
        entry.last_used_at = self._clock()
        if self._entries.get(entry.name) is entry:
            self._entries[entry.name] = self._entries.pop(entry.name)
            if self._witness:
                self._witness.used(entry)

    def freshen(self, entry: Entry, kept: Kept) -> None:
        """Of several conversations under a name, note which one was used last."""
        for lineage in entry.lineages:
            if lineage.kept is kept:
                entry.lineages.remove(lineage)
                entry.lineages.append(lineage)
                return

    def release(self, name: str) -> None:
        """Let a live name go."""
        entry = self._entries.pop(name)
        entry.live = False
        self._forget_states(entry)
        if self._witness:
            self._witness.released(entry)

    def release_least_recent(self) -> bool:
        """Let the least recently used name go. False when there is none."""
        self._expire()
        for name in self._entries:
            self.release(name)
            return True
        return False

    def give_memory(self) -> bool:
        """Free the memory of the least recently used name that has any: one whose file is on disk
        sleeps there and stays live, another is released. False when there is none."""
        self._expire()
        for entry in self._entries.values():
            if entry.lineages:
                if entry.on_disk:
                    self._forget_states(entry)
                else:
                    self.release(entry.name)
                return True
        return False

    def _place(self, name: str, parent: str | None, source: str, owner: str | None) -> Entry:
        self._expire()
        now = self._clock()
        old = self._entries.pop(name, None)
        while len(self._entries) >= self.cap:
            self.release_least_recent()
        entry = old or Entry(name, parent, source, now, now)
        entry.parent, entry.source, entry.owner = parent, source, owner
        entry.last_used_at = now
        self._entries[name] = entry
        return entry

    def _hold(self, entry: Entry, lineage: Lineage) -> None:
        entry.lineages.append(lineage)
        entry.tokens = len(lineage.kept.state.tokens)
        entry.size = lineage.kept.state.size
        entry.on_disk = False
        if self._witness:
            self._witness.kept(entry)

    def _drop(self, entry: Entry, lineage: Lineage) -> None:
        entry.lineages.remove(lineage)
        lineage.kept.state.release()

    def _forget_states(self, entry: Entry) -> None:
        for lineage in list(entry.lineages):
            self._drop(entry, lineage)

    def _expire(self) -> None:
        now = self._clock()
        gone = [
            name
            for name, entry in self._entries.items()
            if not entry.users and entry.last_used_at + self.ttl <= now
        ]
        for name in gone:
            self.release(name)
