"""Keep, fork and join: which state a request starts from, and what its reply leaves behind."""

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

_VALID_NAME = re.compile(r"[\x21-\x7e]{1,256}")


class Outcome(Enum):
    """What became of a request's wish to start from a name (FROM-1)."""

    USED = "used"
    UNMATCHED = "unmatched"
    UNKNOWN = "unknown"


def valid(name: str) -> bool:
    """NAME-2: 1 to 256 visible ASCII characters."""
    return _VALID_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Wish:
    """The names a request carries; None where it carries none."""

    start_from: str | None = None
    keep: str | None = None


class Visit:
    """One request's use of the sessions, from its start to :meth:`close`.

    ``outcome`` is None when the request named no start; ``keeps`` is None when it asked for no
    keep, False when the name it gave is not valid.
    """

    def __init__(
        self,
        table: NameTable,
        tokens: Tokens,
        call: Call,
        start: Start,
        outcome: Outcome | None,
        wish: Wish,
    ) -> None:
        self.start = start
        self.outcome = outcome
        self.keeps = None if wish.keep is None else valid(wish.keep)
        self._table, self._tokens, self._call, self._wish = table, tokens, call, wish
        self._entry: Entry | None = None

    def use(self, entry: Entry) -> None:
        """Note that this request starts from an entry."""
        self._table.begin_use(entry)
        self._entry = entry

    def keep(self, reply: Assistant, state: State) -> None:
        """Keep the state at the end of the reply (KEEP-1). Takes over the caller's reference."""
        assert self._wish.keep is not None
        kept = starting.kept_after(self._call, self.start, reply, state, self._tokens)
        parent = self._entry.name if self._entry else None
        self._table.keep(self._wish.keep, kept, parent=parent, source="header")

    def close(self) -> None:
        """The request is over, however it ended. May be called again."""
        if self._entry is not None:
            self._table.end_use(self._entry)
            self._entry = None


class Sessions:
    """The server's one set of names (NAME-3)."""

    def __init__(self, table: NameTable, tokens: Tokens) -> None:
        self.table = table
        self._tokens = tokens

    def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        """Decide where a request starts. Every visit must be closed."""
        outcome, entry, start = self._find(call, prompt, wish.start_from)
        start = start or starting.cold(prompt, self._tokens)
        visit = Visit(self.table, self._tokens, call, start, outcome, wish)
        if entry is not None and outcome is Outcome.USED:
            visit.use(entry)
        return visit

    def outcome_of_failure(self, wish: Wish) -> Outcome | None:
        """What to say of the start when the request itself could not be read: a history that
        cannot be read repeats nothing."""
        if wish.start_from is None:
            return None
        known = valid(wish.start_from) and self.table.find(wish.start_from) is not None
        return Outcome.UNMATCHED if known else Outcome.UNKNOWN

    def _find(
        self, call: Call, prompt: Prompt, name: str | None
    ) -> tuple[Outcome | None, Entry | None, Start | None]:
        if name is None:
            return None, None, None
        entry = self.table.find(name) if valid(name) else None
        if entry is None:
            return Outcome.UNKNOWN, None, None
        found = match(entry.kept.conversation, call.conversation, call.opening)
        start = starting.warm(prompt, entry.kept, found, self._tokens) if found else None
        return (Outcome.USED if start else Outcome.UNMATCHED), entry, start
