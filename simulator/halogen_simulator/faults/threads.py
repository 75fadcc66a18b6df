"""Mistakes in the mapping of Claude Code's threads (MAP)."""

from dataclasses import replace
from typing import Any

from halogen_reference.call import Call
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.names import Entry
from halogen_reference.sessions.threads import SOURCE, Origin, Thread, Threads
from halogen_reference.settings import Settings
from halogen_simulator.faults import parts
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.wire import Asked, Edit

_LINE = "x-anthropic-billing-header:"


class _NeverStarts(Threads):
    def origin(self, thread: Thread, entries: list[Entry], call: Call) -> Origin | None:
        return None


class _OneState(Threads):
    """A session has one state for all its threads, the newest."""

    def name(self, thread: Thread) -> str:
        return super().name(replace(thread, agent=None))

    def keep(self, thread: Thread, kept: Kept, origin: Origin | None) -> None:
        _replace_all(self, thread, kept)


class _AgentOnly(Threads):
    """A subagent's name is made of its id alone."""

    def name(self, thread: Thread) -> str:
        return super().name(thread if thread.agent is None else replace(thread, session=""))

    def keep(self, thread: Thread, kept: Kept, origin: Origin | None) -> None:
        if thread.agent is None:
            super().keep(thread, kept, origin)
        else:
            _replace_all(self, thread, kept)


class _NoParent(Threads):
    def candidates(self, thread: Thread) -> list[Entry]:
        if thread.agent is None:
            return super().candidates(thread)
        own = self._table.find(self.name(thread))
        return [own] if own is not None else []


class _NewestOnly(Threads):
    """Whatever comes last is the thread, a title or a probe, too."""

    def keep(self, thread: Thread, kept: Kept, origin: Origin | None) -> None:
        _replace_all(self, thread, kept)

    def origin(self, thread: Thread, entries: list[Entry], call: Call) -> Origin | None:
        return _whole(super().origin(thread, entries, call))

    @staticmethod
    def keeps(thread: Thread, call: Call) -> bool:
        return True


class _TitlesReplace(Threads):
    """A request without tools replaces the conversation."""

    def keep(self, thread: Thread, kept: Kept, origin: Origin | None) -> None:
        if kept.conversation.tools:
            super().keep(thread, kept, origin)
        else:
            _replace_all(self, thread, kept)


class _WholeOnly(Threads):
    """Starts only from the end of what was kept last: after a summary nothing fits."""

    def origin(self, thread: Thread, entries: list[Entry], call: Call) -> Origin | None:
        return _whole(super().origin(thread, entries, call))


class _Guessable(Threads):
    def name(self, thread: Thread) -> str:
        return f"{SOURCE}:{thread.session}:{thread.agent or 'main'}"


class _KeysShare(Threads):
    """Names know no keys."""

    def owner(self, key: str) -> str:
        return super().owner("")

    def name(self, thread: Thread) -> str:
        return super().name(replace(thread, key=""))


def _whole(origin: Origin | None) -> Origin | None:
    at_end = origin is not None and origin.kept.seams[origin.seam] == origin.kept.end
    return origin if at_end else None


def _replace_all(threads: Threads, thread: Thread, kept: Kept) -> None:
    name, owner = threads.name(thread), threads.owner(thread.key)
    threads._table.keep(name, kept, parent=None, source=SOURCE, owner=owner)


def _always(settings: Settings) -> Settings:
    return replace(settings, fork_map="claude-code") if settings.fork else settings


def _without_fork(settings: Settings) -> Settings:
    return replace(settings, fork=True) if settings.fork_map else settings


def _texts(value: Any) -> list[dict[str, Any]]:
    blocks = value if isinstance(value, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == "text"]


def _line_is_read(asked: Asked) -> None:
    """The line is given another beginning, so that nobody knows it for what it is."""
    if asked.path != "/v1/messages" or not isinstance(asked.body, dict):
        return
    system = asked.body.get("system")
    if isinstance(system, str):
        asked.body["system"] = system.replace(_LINE, "x-billing:", 1)
    for block in _texts(system)[:1]:
        block["text"] = str(block.get("text")).replace(_LINE, "x-billing:", 1)


def _quotes_go(asked: Asked) -> None:
    """Lines that look like it are taken out wherever they stand."""
    if asked.path != "/v1/messages" or not isinstance(asked.body, dict):
        return
    for message in asked.body.get("messages") or []:
        if not isinstance(message, dict):
            continue
        if isinstance(message.get("content"), str):
            message["content"] = _unlined(message["content"])
        for block in _texts(message.get("content")):
            block["text"] = _unlined(str(block.get("text")))


def _unlined(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith(_LINE))


def _of(id: str, breaks: tuple[str, ...], sentence: str, part: type[Threads]) -> Fault:
    return Fault(id, breaks, sentence, server=parts.threads(part))


FAULTS = (
    _of("map-never-starts", ("MAP-1",), "A thread's state is kept and never used.", _NeverStarts),
    _of(
        "map-one-state",
        ("MAP-2", "MAP-1", "MAP-4", "MAP-9"),
        "A session has one state, which its threads take from each other.",
        _OneState,
    ),
    _of(
        "map-agent-only",
        ("MAP-2", "MAP-3"),
        "Subagents with one id in two sessions share a state.",
        _AgentOnly,
    ),
    _of("map-no-parent", ("MAP-3",), "A subagent never starts from its parent.", _NoParent),
    _of(
        "map-newest-only",
        ("MAP-4", "MAP-3", "MAP-9"),
        "Whatever a session asks last is its conversation.",
        _NewestOnly,
    ),
    _of(
        "map-title-replaces",
        ("MAP-4",),
        "A request for a title replaces the conversation.",
        _TitlesReplace,
    ),
    _of(
        "map-summary-replaces",
        ("MAP-4", "MAP-3"),
        "After a summary or a recap the conversation's older state is out of reach.",
        _WholeOnly,
    ),
    _of("map-guessable", ("MAP-5",), "Names are session and agent id in plain text.", _Guessable),
    _of("map-keys-share", ("MAP-5",), "Two API keys share a thread's state.", _KeysShare),
    Fault(
        "map-always",
        ("MAP-6",),
        "Threads are mapped without HALOGEN_FORK_MAP.",
        settings=_always,
    ),
    Fault(
        "map-without-fork",
        ("MAP-6",),
        "Threads are mapped without HALOGEN_FORK=1.",
        settings=_without_fork,
    ),
    Fault(
        "billing-line-is-read",
        ("MAP-7", "MAP-1"),
        "The attribution line is part of the prompt and breaks the match.",
        app=Edit(ask=_line_is_read),
    ),
    Fault(
        "billing-quotes-go",
        ("MAP-7",),
        "Quoted attribution lines are taken out of messages, too.",
        app=Edit(ask=_quotes_go),
    ),
)
