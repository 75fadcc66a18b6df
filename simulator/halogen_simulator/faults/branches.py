"""Mistakes inside a reply (BRANCH)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant
from halogen_reference.engine.protocol import Job, State
from halogen_reference.prompt import Seam
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.matching import Inside, Match
from halogen_reference.sessions.sessions import Visit
from halogen_simulator.engine import SimEngine
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.parts import NamedStart
from halogen_simulator.faults.route import PATH, noted
from halogen_simulator.script import Line
from halogen_simulator.writer import open_turn


def _none_on(path: str) -> type[NamedStart]:
    class NoBranch(NamedStart):
        def match(self, kept: Kept, call: Call) -> Match | None:
            if PATH.get() == path and call.opening is Opening.CONTINUE:
                return None
            return super().match(kept, call)

    return NoBranch


class _Repeats(SimEngine):
    """A reply that goes on from a partial one begins with it again."""

    def _units(self, job: Job, data: bytes, line: Line | None) -> Iterator[Sequence[int]]:
        begun = open_turn(data).decode("utf-8", "replace")
        if begun:
            yield self.encode(begun, False)
        yield from super()._units(job, data, line)


class _Anything(NamedStart):
    """Any final assistant text counts as a beginning of the kept reply."""

    def match(self, kept: Kept, call: Call) -> Match | None:
        right = super().match(kept, call)
        items, others = call.conversation.items, kept.conversation.items
        reply, partial = others[-1], items[-1]
        same = len(items) == len(others) and items[:-1] == others[:-1]
        if right is None and call.opening is Opening.CONTINUE and same:
            assert isinstance(reply, Assistant) and isinstance(partial, Assistant)
            return Inside(min(len(partial.text), len(reply.text)))
        return right


class _Rounds(NamedStart):
    """The branch starts a little before the place it was asked for."""

    def match(self, kept: Kept, call: Call) -> Match | None:
        right = super().match(kept, call)
        return Inside(right.chars * 2 // 3) if isinstance(right, Inside) else right


class _KeepsTail(Visit):
    """What is kept on a branch is the continuation alone, as if it were the whole reply."""

    def keep(self, reply: Assistant, state: State) -> None:
        if self._call.opening is Opening.CONTINUE:
            history = self._call.conversation
            rest = replace(history, items=history.items[:-1])
            seam = Seam(len(rest.items), False)
            self.start.seams.setdefault(seam, self.start.position)
            self._call = replace(self._call, conversation=rest, opening=Opening.REPLY)
        super().keep(reply, state)


FAULTS = (
    *(
        Fault(
            f"no-branch-on-{route}",
            (id, "BRANCH-5"),
            f"A partial reply on {path} is never used.",
            server=parts.sessions(_none_on(path)),
            app=noted,
        )
        for id, route, path in (
            ("BRANCH-1", "chat", "/v1/chat/completions"),
            ("BRANCH-2", "messages", "/v1/messages"),
            ("BRANCH-3", "responses", "/v1/responses"),
        )
    ),
    Fault(
        "branch-repeats",
        ("BRANCH-1", "BRANCH-2", "BRANCH-3"),
        "A reply that goes on from a partial one repeats it.",
        server=parts.engine(_Repeats),
    ),
    Fault(
        "branch-from-anything",
        ("BRANCH-4",),
        "A final assistant text that is no beginning of the reply is used.",
        server=parts.sessions(_Anything),
    ),
    Fault(
        "branch-too-early",
        ("BRANCH-1", "BRANCH-2", "BRANCH-3"),
        "A branch starts before the place it was asked for.",
        server=parts.sessions(_Rounds),
    ),
    Fault(
        "branch-keeps-tail",
        ("BRANCH-5",),
        "Keeping on a branch keeps the continuation without the text before it.",
        server=parts.visits(_KeepsTail),
    ),
)
