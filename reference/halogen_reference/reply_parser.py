"""From the engine's text to the parts of a reply: reasoning, text, tool calls.

The model writes calls and reasoning into its text (see ``tool_form``). The parser holds back text
that may be the beginning of such a part and releases everything else at once.
"""

import json
import secrets
from collections.abc import Callable

from halogen_reference.conversation import Assistant, ToolCall, canonical_json
from halogen_reference.reply import (
    CallDelta,
    CallEnd,
    CallStart,
    ReasoningDelta,
    ReplyEvent,
    TextDelta,
    TokenLogprob,
)
from halogen_reference.tool_form import CALL_CLOSE, CALL_OPEN, THINK_CLOSE, THINK_OPEN

Events = list[ReplyEvent]


class ReplyParser:
    """Fed with released text, yields reply events; :meth:`assistant` is the reply as one item.

    ``tools`` are the names that may be called: none, and no call is recognised. A call is yielded
    once it is whole, so that what is sent always is JSON; what looked like a call and is none is
    text. ``opening``: the reply starts a turn and may begin with reasoning.
    """

    def __init__(self, tools: frozenset[str] = frozenset(), *, opening: bool = True) -> None:
        self._tools = tools
        self._pending = ""
        self._logprobs: list[TokenLogprob] = []
        self._step: Callable[[bool], Events | None] = self._opening if opening else self._in_text
        self._reasoning = ""
        self._text = ""
        self._calls: list[ToolCall] = []

    @property
    def reasoning(self) -> str:
        return self._reasoning

    @property
    def calls(self) -> int:
        """Whole calls so far."""
        return len(self._calls)

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> Events:
        """Add released text; returns the events it completes."""
        self._pending += text
        self._logprobs.extend(logprobs)
        return self._run(final=False)

    def finish(self) -> Events:
        """The reply is over: a part that was begun and never completed is text."""
        events = self._run(final=True)
        return [*events, self._delta("")] if self._logprobs else events

    def assistant(self) -> Assistant:
        """What the client was sent, as the item it will send back."""
        return Assistant(self._text, self._reasoning or None, tuple(self._calls))

    def _run(self, *, final: bool) -> Events:
        events: Events = []
        while (more := self._step(final)) is not None:
            events += more
        return events

    # Each step looks at the pending text: it returns None when it needs more, or events and the
    # next step set.

    def _opening(self, final: bool) -> Events | None:
        if self._pending.startswith(THINK_OPEN):
            self._take(len(THINK_OPEN))
            self._step = self._in_reasoning
        elif self._pending and (final or not THINK_OPEN.startswith(self._pending)):
            self._step = self._in_text
        else:
            return None
        return []

    def _in_reasoning(self, final: bool) -> Events | None:
        at = self._pending.find(THINK_CLOSE)
        if at >= 0:
            events = self._think(self._take(at))
            self._take(len(THINK_CLOSE))
            self._step = self._after_reasoning
            return events
        ready = len(self._pending) - (0 if final else _beginning(self._pending, THINK_CLOSE))
        return self._think(self._take(ready)) if ready else None

    def _after_reasoning(self, final: bool) -> Events | None:
        self._pending = self._pending.lstrip("\n")
        if not self._pending:
            return None
        self._step = self._in_text
        return []

    def _in_text(self, final: bool) -> Events | None:
        at = self._pending.find(CALL_OPEN) if self._tools else -1
        if at >= 0:
            # Line breaks before a call belong to the form, not to the text.
            events = self._say(self._take(at).rstrip("\n"))
            self._step = self._in_call
            return events
        ready = len(self._pending)
        if self._tools and not final:
            ready -= _beginning(self._pending, CALL_OPEN)
            ready = len(self._pending[:ready].rstrip("\n"))
        return self._say(self._take(ready)) if ready else None

    def _in_call(self, final: bool) -> Events | None:
        at = self._pending.find(CALL_CLOSE)
        if at < 0:
            if not final or not self._pending:
                return None
            self._step = self._in_text
            return self._say(self._take(len(self._pending)))
        whole = self._take(at + len(CALL_CLOSE))
        call = self._read(whole[len(CALL_OPEN) : -len(CALL_CLOSE)])
        self._step = self._between_calls
        return self._call(call) if call else self._say(whole)

    def _between_calls(self, final: bool) -> Events | None:
        """Space between two calls, and after the last, says nothing."""
        if not self._pending.strip():
            return None
        if self._pending.lstrip().startswith(CALL_OPEN):
            self._pending = self._pending.lstrip()
        self._step = self._in_text
        return []

    def _read(self, body: str) -> ToolCall | None:
        try:
            # Models write line breaks into strings as they are.
            value = json.loads(body, strict=False)
            arguments = canonical_json(value["arguments"])
            arguments.encode()  # half a character, escaped, is JSON but cannot be sent
            name = value["name"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if name not in self._tools or not isinstance(value["arguments"], dict):
            return None
        return ToolCall(secrets.token_hex(12), name, arguments)

    def _take(self, count: int) -> str:
        taken, self._pending = self._pending[:count], self._pending[count:]
        return taken

    def _think(self, text: str) -> Events:
        self._reasoning += text
        return [ReasoningDelta(text)] if text else []

    def _say(self, text: str) -> Events:
        self._text += text
        return [self._delta(text)] if text else []

    def _call(self, call: ToolCall) -> Events:
        index = len(self._calls)
        self._calls.append(call)
        start = CallStart(index, call.id, call.name)
        return [start, CallDelta(index, call.arguments), CallEnd(index)]

    def _delta(self, text: str) -> TextDelta:
        logprobs, self._logprobs = tuple(self._logprobs), []
        return TextDelta(text, logprobs)


def _beginning(text: str, tag: str) -> int:
    """Length of the longest end of the text that the tag begins with."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0
