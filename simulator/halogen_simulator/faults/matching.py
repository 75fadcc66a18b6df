"""Mistakes in deciding whether a request repeats a kept conversation (FROM)."""

from dataclasses import replace
from weakref import WeakSet

from halogen_reference import tool_form
from halogen_reference.call import Call
from halogen_reference.conversation import Assistant, Conversation, System, User
from halogen_reference.engine.protocol import State
from halogen_reference.prompt import Prompt, Seam
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.matching import Match, Whole
from halogen_reference.sessions.sessions import Outcome, Visit, Wish
from halogen_reference.sessions.start import Start
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.parts import NamedStart


class _Anyhow(NamedStart):
    """Goes on from the kept tokens with the request's last message, whatever came before it."""

    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        raise NotImplementedError

    def match(self, kept: Kept, call: Call) -> Match | None:
        right = super().match(kept, call)
        if right is None and self.alike(kept.conversation, call.conversation):
            return Whole()
        return right

    def warm(self, prompt: Prompt, kept: Kept, found: Match) -> Start | None:
        start = super().warm(prompt, kept, found)
        if start is None and isinstance(found, Whole):
            end = kept.end
            start = Start(list(kept.state.tokens[: end.at]), kept.state, end.at, end.counted)
            start.add(prompt[-4:], self.tokens.encode)
        return start


class _ByName(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        return True


class _BySimilarity(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        common = sum(a == b for a, b in zip(kept.items, asked.items, strict=False))
        return common > 0 and len(asked.items) > 1


class _ByCount(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        return len(asked.items) > len(kept.items)


class _NotTheSystem(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        return asked.tools == kept.tools and _starts(_no_system(asked), _no_system(kept))


class _NotTheTools(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        return _starts(asked, kept)


class _NotTheReply(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        count = len(kept.items) - 1
        longer = len(asked.items) > count + 1
        return longer and asked.tools == kept.tools and asked.items[:count] == kept.items[:count]


class _Shorter(_Anyhow):
    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        count = len(asked.items)
        return count < len(kept.items) and asked.items == kept.items[:count]


def _no_system(conversation: Conversation) -> Conversation:
    items = tuple(item for item in conversation.items if not isinstance(item, System))
    return replace(conversation, items=items)


def _starts(asked: Conversation, kept: Conversation) -> bool:
    count = len(kept.items)
    return len(asked.items) > count and asked.items[:count] == kept.items


class _Never(NamedStart):
    def match(self, kept: Kept, call: Call) -> Match | None:
        return None


class _ByTokens(NamedStart):
    """By ids: the tokeniser's spelling of the reply against the one that was generated. Of greedy
    replies these are the same often enough to be overlooked, so here they are left alone."""

    async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        visit = await super().open(call, prompt, wish)
        visit.__class__ = _NotesHeat
        return visit

    def match(self, kept: Kept, call: Call) -> Match | None:
        right = super().match(kept, call)
        if kept.state not in _HOT:
            return right
        reply = kept.conversation.items[-1]
        assert isinstance(reply, Assistant)
        opened = kept.seams[Seam(len(kept.conversation.items) - 1, False)]
        own = list(kept.state.tokens[opened.at : kept.end.at])
        same = own == list(self.tokens.encode(tool_form.turn(reply), False))
        return right if same else None


class _NotesHeat(Visit):
    def keep(self, reply: Assistant, state: State) -> None:
        if self._call.sampling.temperature > 0:
            _HOT.add(state)
        super().keep(reply, state)


_HOT: WeakSet[State] = WeakSet()


class _NoCalls(NamedStart):
    def match(self, kept: Kept, call: Call) -> Match | None:
        turns = [item for item in kept.conversation.items if isinstance(item, Assistant)]
        return None if any(turn.calls for turn in turns) else super().match(kept, call)


class _OnlyUsers(_Anyhow):
    """Compares what the user said and nothing else."""

    def alike(self, kept: Conversation, asked: Conversation) -> bool:
        mine = [item for item in kept.items if isinstance(item, User)]
        theirs = [item for item in asked.items if isinstance(item, User)]
        return len(theirs) > len(mine) and theirs[: len(mine)] == mine


class _NoTurnEnd(NamedStart):
    """After a kept reply the end-of-turn token is left out."""

    def warm(self, prompt: Prompt, kept: Kept, found: Match) -> Start | None:
        start = super().warm(prompt, kept, found)
        if start is not None and isinstance(found, Whole):
            del start.tokens[start.reuse]
        return start


class _CountsNewOnly(NamedStart):
    def warm(self, prompt: Prompt, kept: Kept, found: Match) -> Start | None:
        start = super().warm(prompt, kept, found)
        if start is not None:
            start.counted -= start.reuse
        return start


class _MissReleases(NamedStart):
    async def open(self, call: Call, prompt: Prompt, wish: Wish) -> Visit:
        visit = await super().open(call, prompt, wish)
        name = wish.start_from
        if visit.outcome is Outcome.UNMATCHED and name and self.table.find(name):
            self.table.release(name)
        return visit


class _LosesText(NamedStart):
    """The kept state is used a few tokens before its end, without a trace of what was there."""

    def warm(self, prompt: Prompt, kept: Kept, found: Match) -> Start | None:
        start = super().warm(prompt, kept, found)
        if start is not None and start.reuse > 8:
            del start.tokens[start.reuse - 4 : start.reuse]
            start.reuse -= 4
        return start


def _of(id: str, breaks: tuple[str, ...], sentence: str, part: type[NamedStart]) -> Fault:
    return Fault(id, breaks, sentence, server=parts.sessions(part))


FAULTS = (
    _of("never-used", ("FROM-2", "KEEP-1"), "Every history counts as unmatched.", _Never),
    _of("matches-by-name", ("FROM-4",), "A live name is used for any history.", _ByName),
    _of(
        "matches-by-similarity",
        ("FROM-4",),
        "A history that has a message in common with the kept one is used.",
        _BySimilarity,
    ),
    _of(
        "matches-by-length",
        ("FROM-4",),
        "A history with more messages than the kept one is used.",
        _ByCount,
    ),
    _of("ignores-system", ("FROM-4",), "Another system text is not noticed.", _NotTheSystem),
    _of("ignores-tools", ("FROM-4",), "Other tools are not noticed.", _NotTheTools),
    _of("ignores-reply", ("FROM-4",), "An edited reply is not noticed.", _NotTheReply),
    _of("compares-users-only", ("FROM-4",), "Only user messages are compared.", _OnlyUsers),
    _of("accepts-shorter", ("FROM-4",), "A history that stops earlier is used.", _Shorter),
    _of(
        "matches-token-ids",
        ("FROM-9",),
        "A reply sampled with a temperature is compared by token ids, which seldom come back.",
        _ByTokens,
    ),
    _of("forgets-calls", ("FROM-11",), "A history with tool calls is never used.", _NoCalls),
    _of(
        "no-end-of-turn",
        ("KEEP-2", "FROM-6"),
        "The end-of-turn token after a kept reply is left out.",
        _NoTurnEnd,
    ),
    _of(
        "loses-last-words",
        ("FROM-6", "KEEP-2"),
        "A used state lacks its last few tokens.",
        _LosesText,
    ),
    _of(
        "counts-new-only",
        ("FROM-6",),
        "usage does not count the kept part of the prompt.",
        _CountsNewOnly,
    ),
    _of(
        "miss-releases",
        ("FROM-4",),
        "An unmatched request costs the name its state.",
        _MissReleases,
    ),
)
