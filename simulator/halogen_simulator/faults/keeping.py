"""Mistakes in what a request leaves behind (KEEP, JOIN, NAME-3)."""

from dataclasses import replace

from halogen_reference.call import Call
from halogen_reference.conversation import Assistant, Conversation
from halogen_reference.engine.protocol import State
from halogen_reference.prompt import Prompt, Seam
from halogen_reference.sessions.kept import Kept, Position
from halogen_reference.sessions.sessions import Outcome, Sessions, Visit, Wish
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.route import PATH, noted
from halogen_simulator.faults.wire import KEEP, Answered, Asked, Edit
from halogen_simulator.pool import Run
from halogen_simulator.state import SimState
from halogen_simulator.vocabulary import OPEN_MARK, TURN_OPEN


class _KeepsNothing(Visit):
    def keep(self, reply: Assistant, state: State) -> None:
        state.release()


class _MovesParent(Visit):
    """A reply kept elsewhere also takes the place of what it was started from."""

    def keep(self, reply: Assistant, state: State) -> None:
        entry = self._entry
        state.retain()
        super().keep(reply, state)
        if entry is None or not entry.live or self._wish.keep in (None, entry.name):
            state.release()
            return
        table = self._sessions.table
        kept = table.find(self._wish.keep or "")
        assert kept is not None
        table.keep(entry.name, replace(kept.kept), parent=None, source="header")


class _Consumes(Visit):
    """Starting from a name takes its state away."""

    def close(self) -> None:
        entry = self._entry
        super().close()
        if entry is None or self._wish.mapped is not None:
            return
        if entry.live and self._wish.keep != entry.name:
            self._sessions.table.release(entry.name)


class _JoinReleases(Visit):
    def keep(self, reply: Assistant, state: State) -> None:
        entry = self._entry
        super().keep(reply, state)
        if entry is not None and entry.live and self._wish.keep not in (None, entry.name):
            self._sessions.table.release(entry.name)


class _JoinStays(Visit):
    def keep(self, reply: Assistant, state: State) -> None:
        if self._entry is not None and self._entry.name == self._wish.keep:
            state.release()
        else:
            super().keep(reply, state)


class _OnlyBesideUsed(Visit):
    def keep(self, reply: Assistant, state: State) -> None:
        if self._wish.mapped is not None or self.outcome in (None, Outcome.USED):
            super().keep(reply, state)
        else:
            state.release()


class _NeverReplaces(Visit):
    def keep(self, reply: Assistant, state: State) -> None:
        if self._wish.keep and self._sessions.table.find(self._wish.keep):
            state.release()
        else:
            super().keep(reply, state)


class _SecondName(Visit):
    """Keeping under a live name makes a second entry beside it."""

    def keep(self, reply: Assistant, state: State) -> None:
        name = self._wish.keep
        if name and self._sessions.table.find(name):
            self._wish = replace(self._wish, keep=f"{name}-2")
        super().keep(reply, state)


class _Mixes(Sessions):
    """Of two requests that keep one name at once, the later writes its history over the state of
    the earlier."""

    async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        visit = await super().open(call, prompt, wish)
        visit.__class__ = _Mixing
        known = self.table.find(wish.keep) if wish.keep else None
        visit.before = known.kept if known else None  # type: ignore[attr-defined]
        return visit


class _Mixing(Visit):
    before: Kept | None

    def keep(self, reply: Assistant, state: State) -> None:
        name = self._wish.keep
        known = self._sessions.table.find(name) if name else None
        other = known.kept if known is not None else None
        if other is not None and other is not self.before:
            other.state.retain()
        super().keep(reply, state)
        if name is None or other is None or other is self.before:
            return
        entry = self._sessions.table.find(name)
        assert entry is not None
        lineage = entry.lineages[-1]
        mine, there = lineage.kept, other.state
        end = Position(len(there.tokens), mine.end.counted)
        seams = {**mine.seams, Seam(len(mine.conversation.items) - 1, True): end}
        lineage.kept = Kept(mine.conversation, there, seams)
        mine.state.release()


class _Unfinished(Visit):
    """A reply that broke off is kept: the name then holds what came before it."""

    def keep(self, reply: Assistant, state: State) -> None:
        self.kept = True
        super().keep(reply, state)

    def close(self) -> None:
        name = self._wish.keep
        if name and self.keep_accepted and not getattr(self, "kept", False):
            self.kept = True
            _keep_blank(self._sessions, name)
        super().close()


def _keep_blank(sessions: Sessions, name: str) -> None:
    """Keep a reply that says nothing, to nothing, under a name."""
    tokens = sessions.tokens.encode(TURN_OPEN, True)
    state = SimState(0, None, tokens, OPEN_MARK, 0, Run(None, 0, 0), lambda state: None)
    seams = {Seam(0, False): Position(1, 1), Seam(0, True): Position(1, 1)}
    kept = Kept(Conversation((Assistant(""),)), state, seams)
    sessions.table.keep(name, kept, parent=None, source="header")


def _after_refusal(asked: Asked, answered: Answered | None) -> None:
    name = asked.header(KEEP)
    if name and answered is not None and 400 <= answered.status < 500 and answered.status != 401:
        _keep_blank(asked.server.sessions, name)


def _release_after_failure(asked: Asked, answered: Answered | None) -> None:
    name = asked.header(KEEP)
    table = asked.server.sessions.table
    if name and answered is not None and answered.status >= 400 and table.find(name):
        table.release(name)


def _after_leaving(asked: Asked, answered: Answered | None) -> None:
    name = asked.header(KEEP)
    if name and answered is None:
        _keep_blank(asked.server.sessions, name)


class _RoutesApart(Sessions):
    """A name is known only on the route it was kept by."""

    async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        routes: dict[str, str] = self.__dict__.setdefault("_routes", {})
        path = PATH.get()
        if wish.start_from and routes.get(wish.start_from, path) != path:
            wish = replace(wish, start_from="\0")
        if wish.keep:
            routes[wish.keep] = path
        return await super().open(call, prompt, wish)


def _visit(id: str, breaks: tuple[str, ...], sentence: str, faulty: type[Visit]) -> Fault:
    return Fault(id, breaks, sentence, server=parts.visits(faulty))


FAULTS = (
    _visit(
        "keeps-nothing", ("KEEP-1", "LIST-1"), "A keep is accepted and forgotten.", _KeepsNothing
    ),
    _visit(
        "never-replaces", ("KEEP-3", "JOIN-2"), "A live name keeps its first state.", _NeverReplaces
    ),
    _visit(
        "rekeep-adds-a-name",
        ("KEEP-3", "LIST-1"),
        "Keeping under a live name makes a second name.",
        _SecondName,
    ),
    Fault(
        "keeps-mixed",
        ("KEEP-6",),
        "Two keeps of one name at once leave the history of one and the state of the other.",
        server=parts.sessions(_Mixes),
    ),
    Fault(
        "keeps-unfinished",
        ("KEEP-5", "KEEP-4"),
        "A reply that fails or is abandoned is kept all the same.",
        server=parts.visits(_Unfinished),
    ),
    Fault(
        "keeps-refused",
        ("KEEP-4",),
        "A request that is refused with a 4xx replaces the name's state.",
        app=Edit(after=_after_refusal),
    ),
    Fault(
        "failed-keep-releases",
        ("KEEP-4", "AUTH-1"),
        "A failed request costs the name it was to replace.",
        app=Edit(after=_release_after_failure),
    ),
    Fault(
        "keeps-abandoned",
        ("KEEP-5",),
        "A reply whose client has left replaces the name's state.",
        app=Edit(after=_after_leaving),
    ),
    _visit(
        "consumes-when-read",
        ("FROM-3", "JOIN-1"),
        "Starting from a name takes its state away.",
        _Consumes,
    ),
    _visit(
        "fork-overwrites-parent",
        ("JOIN-1", "FROM-3"),
        "A fork that is kept under another name also replaces its parent.",
        _MovesParent,
    ),
    _visit(
        "join-releases-parent",
        ("JOIN-1",),
        "From one name and keep another: the first is gone.",
        _JoinReleases,
    ),
    _visit(
        "join-stays", ("JOIN-2",), "From and Keep of one name do not move it forward.", _JoinStays
    ),
    _visit(
        "no-keep-beside-a-miss",
        ("JOIN-3",),
        "A keep beside an unmatched or unknown start is forgotten.",
        _OnlyBesideUsed,
    ),
    Fault(
        "routes-apart",
        ("NAME-3", "FROM-10"),
        "A name is known only on the route it was kept by.",
        server=parts.sessions(_RoutesApart),
        app=noted,
    ),
)
