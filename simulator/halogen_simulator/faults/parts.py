"""Putting a faulty part in the place of a right one, and the parts faults are made of."""

from collections.abc import Callable
from typing import TypeVar

from halogen_reference.call import Call
from halogen_reference.prompt import Prompt
from halogen_reference.server import Server
from halogen_reference.sessions import start as starting
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.matching import Match, match
from halogen_reference.sessions.names import NameTable
from halogen_reference.sessions.sessions import Outcome, Sessions, Visit, Wish
from halogen_reference.sessions.start import Start
from halogen_reference.sessions.store import Store
from halogen_reference.sessions.threads import Threads
from halogen_simulator.engine import SimEngine

_P = TypeVar("_P")


def _become(part: object, faulty: type[_P]) -> None:
    """The server is built and its parts know each other: a faulty part is the same object with
    other methods. ``faulty`` adds none to ``__init__``."""
    part.__class__ = faulty


def sessions(faulty: type[Sessions]) -> Callable[[Server], None]:
    """Puts other sessions, which keep names and start from them, into a server."""
    return lambda server: _become(server.sessions, faulty)


def table(faulty: type[NameTable]) -> Callable[[Server], None]:
    """Puts another table of names into a server."""
    return lambda server: _become(server.sessions.table, faulty)


def threads(faulty: type[Threads]) -> Callable[[Server], None]:
    """Puts another mapping of Claude Code's threads to names into a server."""
    return lambda server: _become(server.sessions.threads, faulty)


def engine(faulty: type[SimEngine]) -> Callable[[Server], None]:
    """Puts another simulated model into a server."""
    return lambda server: _become(server.engine, faulty)


def store(faulty: type[Store]) -> Callable[[Server], None]:
    """Nothing happens to a server that has none."""

    def install(server: Server) -> None:
        if server.sessions._store is not None:
            _become(server.sessions._store, faulty)

    return install


def visits(faulty: type[Visit]) -> Callable[[Server], None]:
    """Every request's visit is a faulty one."""

    class WithVisits(Sessions):
        async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
            visit = await super().open(call, prompt, wish)
            _become(visit, faulty)
            return visit

    return sessions(WithVisits)


class NamedStart(Sessions):
    """Starts from names as the right one does, by two methods that can be replaced."""

    def match(self, kept: Kept, call: Call) -> Match | None:
        return match(kept.conversation, call.conversation, call.opening)

    def warm(self, prompt: Prompt, kept: Kept, found: Match) -> Start | None:
        return starting.warm(prompt, kept, found, self.tokens)

    async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        if wish.start_from is None:
            return await super().open(call, prompt, wish)
        entry = await self._named(wish)
        start = None
        if entry is not None:
            found = self.match(entry.kept, call)
            start = self.warm(prompt, entry.kept, found) if found else None
        if start is not None:
            return Visit(self, call, start, wish, Outcome.USED, entry)
        outcome = Outcome.UNKNOWN if entry is None else Outcome.UNMATCHED
        return Visit(self, call, starting.cold(prompt, self.tokens), wish, outcome, None)
