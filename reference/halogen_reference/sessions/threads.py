"""Claude Code's threads: names made from what its requests say of themselves (MAP).

Two facts of that traffic decide the design. A side request (a recap, a compaction) can look exactly
like the conversation's next turn, and only the turn after it shows which it was. And a fork
subagent repeats its parent only up to the reply that called it. So a thread's name may hold several
conversations, and a request starts from whichever it repeats furthest, at any edge of a turn.
Neither costs memory: what they have in common is held once.
"""

import hashlib
import hmac
from dataclasses import dataclass

from halogen_reference.call import Call
from halogen_reference.conversation import Assistant
from halogen_reference.prompt import Seam
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.matching import furthest_seam
from halogen_reference.sessions.names import Entry, Lineage, NameTable

SOURCE = "claude-code"
MOST_LINEAGES = 6
"""Conversations one thread holds at once: its own, what it was before a compaction, an older copy,
and a few that nobody will go on with."""
_READ_ONLY = frozenset({"auxiliary", "compaction", "workflow"})


@dataclass(frozen=True, slots=True)
class Thread:
    """What a request says of the thread it belongs to. Blank or odd values are absent."""

    session: str
    agent: str | None = None
    """The subagent's id; None for the main conversation."""
    parent: str | None = None
    """With ``agent``: the subagent that called it; None for the main conversation."""
    key: str = ""
    """The API key the request came with."""
    request_class: str | None = None
    """The client's own hint, absent unless it is told to send it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A conversation a request goes on from."""

    entry: Entry
    kept: Kept
    seam: Seam

    @property
    def reach(self) -> int:
        """Tokens the request repeats."""
        return self.kept.seams[self.seam].at

    @property
    def repeats_reply(self) -> bool:
        """The request repeats a reply, not only a prompt that anybody might send."""
        before = self.kept.conversation.items[: self.seam.item]
        return self.seam.end or any(isinstance(item, Assistant) for item in before)


class Threads:
    """Finds and keeps the states of threads. ``secret`` makes their names unguessable (MAP-5)."""

    def __init__(self, table: NameTable, secret: bytes) -> None:
        self._table = table
        self._secret = secret

    def owner(self, key: str) -> str:
        """Stands for a key without telling it."""
        return self._digest("key", key)

    def name(self, thread: Thread) -> str:
        """The name of a thread's state: different for every session, thread and key."""
        return f"{SOURCE}:{self._digest('thread', thread.key, thread.session, thread.agent or '')}"

    def knows(self, thread: Thread) -> bool:
        """Whether the thread has a state."""
        return self._table.find(self.name(thread)) is not None

    def candidates(self, thread: Thread) -> list[Entry]:
        """Whose states a request of this thread may start from: its own; else its parent's; and
        for a session not seen before, any thread of the same key (it may be a fork)."""
        own = self._table.find(self.name(thread))
        if own is not None:
            return [own]
        if thread.agent is not None:
            parent = Thread(thread.session, thread.parent, key=thread.key)
            entry = self._table.find(self.name(parent))
            return [entry] if entry is not None else []
        owner = self.owner(thread.key)
        # Conversations that sleep on disk are not woken for a mere chance.
        return [entry for entry in self._table.live() if entry.owner == owner and entry.lineages]

    def origin(self, thread: Thread, entries: list[Entry], call: Call) -> Origin | None:
        """The conversation that the request repeats furthest; of equals the one used last."""
        related = thread.agent is not None or self.knows(thread)
        found = [
            Origin(entry, lineage.kept, seam)
            for entry in entries
            for lineage in entry.lineages
            if (seam := furthest_seam(lineage.kept.conversation, call.conversation, call.opening))
            and seam in lineage.kept.seams
        ]
        # A session not seen before is a fork of another only if it repeats what was answered there.
        found = [origin for origin in found if related or origin.repeats_reply]
        return (
            max(enumerate(found), key=lambda pair: (pair[1].reach, pair[0]))[1] if found else None
        )

    def keep(self, thread: Thread, kept: Kept, origin: Origin | None) -> None:
        """Keep a reply for its thread. Takes over the caller's reference.

        A conversation that goes on from the end of another replaces it: the older state stays
        reachable inside the newer.
        """
        name = self.name(thread)
        own = origin if origin is not None and origin.entry.name == name else None
        at_end = own is not None and own.kept.seams[own.seam] == own.kept.end
        self._table.add(
            name,
            Lineage(kept, own is not None, None if own is None or at_end else own.kept),
            instead_of=own.kept if own is not None and at_end else None,
            most=MOST_LINEAGES,
            parent=origin.entry.name if origin is not None else None,
            source=SOURCE,
            owner=self.owner(thread.key),
        )
        self.note_use(thread)

    def note_use(self, thread: Thread) -> None:
        """A subagent at work means that its main conversation waits for it, so it is in use too."""
        if thread.agent is not None:
            main = self._table.find(self.name(Thread(thread.session, key=thread.key)))
            if main is not None:
                self._table.touch(main)

    @staticmethod
    def keeps(thread: Thread, call: Call) -> bool:
        """Whether a reply may become the thread's state. Side requests that can be told, by the
        client's hint or by their single token, are only answered (MAP-4)."""
        return thread.request_class not in _READ_ONLY and call.max_tokens not in (0, 1)

    def _digest(self, *parts: str) -> str:
        text = "\0".join(f"{len(part)}:{part}" for part in parts)
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]
