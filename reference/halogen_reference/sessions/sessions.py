"""Keep, fork and join: which state a request starts from, and what its reply leaves behind."""

import asyncio
import re
from dataclasses import dataclass
from enum import Enum

from halogen_reference.call import Call
from halogen_reference.conversation import Assistant
from halogen_reference.engine.protocol import State
from halogen_reference.prompt import Prompt
from halogen_reference.sessions import start as starting
from halogen_reference.sessions.matching import match
from halogen_reference.sessions.names import Entry, NameTable
from halogen_reference.sessions.start import Start, Tokens
from halogen_reference.sessions.store import Store
from halogen_reference.sessions.threads import Origin, Thread, Threads

_VALID_NAME = re.compile(r"[\x21-\x7e]{1,256}")


class Outcome(Enum):
    """What became of a request's wish to start from a state (FROM-1)."""

    USED = "used"
    UNMATCHED = "unmatched"
    UNKNOWN = "unknown"


def valid(name: str) -> bool:
    """NAME-2: 1 to 256 visible ASCII characters."""
    return _VALID_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Wish:
    """The names a request carries, None where it carries none; and the thread it belongs to, where
    threads are mapped. Names win over the thread (MAP-10)."""

    start_from: str | None = None
    keep: str | None = None
    thread: Thread | None = None
    key: str = ""
    """The API key the request came with: names made for another key are unknown to it."""

    @property
    def mapped(self) -> Thread | None:
        return self.thread if self.start_from is None and self.keep is None else None


class Visit:
    """One request's use of the sessions, from its start to :meth:`close`.

    ``outcome`` is None when the request asked for no start; ``keep_accepted`` is None when it named
    nothing to keep, False when the name it gave is not valid.
    """

    def __init__(
        self,
        sessions: "Sessions",
        call: Call,
        start: Start,
        wish: Wish,
        outcome: Outcome | None,
        entry: Entry | None,
        origin: Origin | None = None,
    ) -> None:
        self.start, self.outcome = start, outcome
        self._sessions, self._call, self._wish = sessions, call, wish
        self._entry, self._origin = entry, origin
        self.keep_accepted = None if wish.keep is None else sessions.may_keep(wish)
        thread = wish.mapped
        self.keeps = bool(self.keep_accepted) or (
            thread is not None and sessions.threads.keeps(thread, call)
        )
        """Whether the state at the end of the reply is wanted."""
        if entry is not None:
            sessions.table.begin_use(entry)
        if thread is not None:
            sessions.threads.note_use(thread)
        # The state outlives its name until the engine has a reference of its own (LIFE-6).
        self._held = start.state.retain() if start.state is not None else None

    def keep(self, reply: Assistant, state: State) -> None:
        """Keep the state at the end of the reply (KEEP-1). Takes over the caller's reference."""
        sessions, wish = self._sessions, self._wish
        kept = starting.kept_after(self._call, self.start, reply, state, sessions.tokens)
        if wish.mapped is not None:
            sessions.threads.keep(wish.mapped, kept, self._origin)
            return
        assert wish.keep is not None
        parent = None
        if self._entry is not None:
            moves = self._entry.name == wish.keep
            parent = self._entry.parent if moves else self._entry.name
        sessions.table.keep(wish.keep, kept, parent=parent, source="header")

    def hand_over(self) -> None:
        """The engine holds the start state now: held here too, its memory could not be given to
        those who need it, this request among them. May be called again."""
        if self._held is not None:
            self._held.release()
            self._held = None

    def close(self) -> None:
        """The request is over, however it ended. May be called again."""
        if self._entry is not None:
            self._sessions.table.end_use(self._entry)
            self._entry = None
        self.hand_over()


class Sessions:
    """The server's one set of names (NAME-3). ``store`` keeps them on disk, where there is one."""

    def __init__(
        self, table: NameTable, threads: Threads, tokens: Tokens, store: Store | None = None
    ) -> None:
        self.table, self.threads, self.tokens = table, threads, tokens
        self._store = store
        self._loads: dict[str, asyncio.Task[None]] = {}

    async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        """Decide where a request starts. Every visit must be closed."""
        if wish.mapped is not None:
            return await self._open_thread(call, prompt, wish, wish.mapped)
        outcome, start = None, None
        entry = await self._named(wish)
        if wish.start_from is not None:
            outcome = Outcome.UNKNOWN if entry is None else Outcome.UNMATCHED
        if entry is not None:
            found = match(entry.kept.conversation, call.conversation, call.opening)
            start = starting.warm(prompt, entry.kept, found, self.tokens) if found else None
        if start is not None:
            return Visit(self, call, start, wish, Outcome.USED, entry)
        return Visit(self, call, starting.cold(prompt, self.tokens), wish, outcome, None)

    def outcome_of_failure(self, wish: Wish) -> Outcome | None:
        """What to say of the start when the request itself could not be read: a history that
        cannot be read repeats nothing."""
        if wish.start_from is None:
            return None
        return Outcome.UNKNOWN if self._look_up(wish) is None else Outcome.UNMATCHED

    def may_keep(self, wish: Wish) -> bool:
        """Whether the name a request wants to keep under is valid and not another key's."""
        if wish.keep is None or not valid(wish.keep):
            return False
        entry = self.table.find(wish.keep)
        return entry is None or self._is_open_to(entry, wish)

    async def start(self) -> None:
        """Take in what an earlier run left on disk."""
        if self._store is None:
            return
        self._store.lost = self._lose
        for entry in await asyncio.to_thread(self._store.scan):
            if not self.table.adopt(entry):
                self._store.released(entry)
        self._store.start()

    async def stop(self) -> None:
        """Bring to disk what is not there yet. The engine must still run."""
        if self._store is not None:
            await self._store.stop()

    async def _open_thread(self, call: Call, prompt: Prompt, wish: Wish, thread: Thread) -> Visit:
        entries = self.threads.candidates(thread)
        for entry in entries:
            await self._awake(entry)
        origin = self.threads.origin(thread, entries, call)
        if origin is not None:
            start = starting.from_seam(prompt, origin.kept, origin.seam, self.tokens)
            if start is not None:
                self.table.freshen(origin.entry, origin.kept)
                return Visit(self, call, start, wish, Outcome.USED, origin.entry, origin)
        outcome = Outcome.UNMATCHED if self.threads.knows(thread) else Outcome.UNKNOWN
        return Visit(self, call, starting.cold(prompt, self.tokens), wish, outcome, None)

    async def _named(self, wish: Wish) -> Entry | None:
        entry = self._look_up(wish)
        return entry if entry is not None and await self._awake(entry) else None

    def _look_up(self, wish: Wish) -> Entry | None:
        name = wish.start_from
        entry = self.table.find(name) if name is not None and valid(name) else None
        return entry if entry is not None and self._is_open_to(entry, wish) else None

    def _is_open_to(self, entry: Entry, wish: Wish) -> bool:
        """AUTH-3: names are everybody's, but those made for a key's threads are that key's."""
        return entry.owner is None or entry.owner == self.threads.owner(wish.key)

    async def _awake(self, entry: Entry) -> bool:
        """Bring a name's state back from disk if it sleeps there; False when it is lost."""
        if entry.live and not entry.lineages:
            load = self._loads.get(entry.name)
            if load is None:
                load = self._loads[entry.name] = asyncio.create_task(self._load(entry))
            await asyncio.shield(load)
        return entry.live and bool(entry.lineages)

    async def _load(self, entry: Entry) -> None:
        assert self._store is not None, "only a store puts names to sleep"
        entry.users += 1
        try:
            kept = await self._store.load(entry)
            if kept is not None:
                self.table.wake(entry, kept)
            elif entry.live:
                self.table.release(entry.name)
        finally:
            entry.users -= 1
            del self._loads[entry.name]

    def _lose(self, stem: str) -> None:
        assert self._store is not None
        for entry in self.table.live():
            if self._store.stem(entry.name) == stem:
                entry.on_disk = False
                if not entry.lineages:
                    self.table.release(entry.name)
