"""Chat Completions chunks to a reply, with the order real SDKs insist on."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.conversation import Call, Json
from halogen_conformance.drivers.reading import (
    Notes,
    items,
    mapping,
    openai_error,
    parse_json,
    text,
    text_or_none,
)
from halogen_conformance.drivers.reply import Finish, Reply, Usage, WireError
from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.drivers.usage import FINISH_WORDS, openai_usage

_CONSTANT = ("id", "created", "model", "object")
"""Fields that every chunk of one stream repeats unchanged."""


@dataclass(slots=True)
class _CallParts:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Choice:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[_CallParts] = field(default_factory=list)
    word: str | None = None
    role_seen: bool = False


@dataclass(slots=True)
class ChatFold:
    """Folds a Chat stream up to ``[DONE]``; choices after the first are its reply's ``others``."""

    usage_expected: bool = True
    notes: Notes = field(default_factory=Notes)
    _choices: list[_Choice] = field(default_factory=list)
    _constants: dict[str, Json] = field(default_factory=dict)
    _usage: Usage | None = None
    _error: WireError | None = None
    _done: int = 0
    _number: int = -1

    def feed(self, event: SseEvent) -> None:
        if event.comment is not None:
            return
        self._number += 1
        where = f"event {self._number}"
        sdk_safe = event.id is None and event.retry is None and event.name in (None, "message")
        self.notes.add_unless(
            sdk_safe and not event.odd_lines, where, "only data: lines belong in this stream"
        )
        if event.is_done:
            self._done += 1
            self.notes.add_unless(self._done == 1, where, "[DONE] a second time")
            return
        self.notes.add_unless(self._done == 0, where, "an event after [DONE]")
        self.notes.add_unless(self._error is None, where, "an event after the error event")
        try:
            chunk = mapping(parse_json(event.data or ""))
        except ValueError:
            self.notes.add(where, "data is not JSON (SDKs raise here)")
            return
        if chunk.get("error") is not None:
            self._error = openai_error(chunk, self.notes, in_band=True)
            return
        self._chunk(chunk, where)

    def _chunk(self, chunk: dict[str, Json], where: str) -> None:
        for key in _CONSTANT:
            value = self._constants.setdefault(key, chunk.get(key))
            self.notes.add_unless(
                chunk.get(key) == value, where, f"{key} changed within the stream"
            )
        self.notes.add_unless(
            self._usage is None, where, "a chunk after the usage chunk, which must be the last"
        )
        choices = items(chunk.get("choices"))
        if chunk.get("usage") is not None:
            self.notes.add_unless(not choices, where, "usage belongs in a chunk without choices")
            self._usage = openai_usage(chunk["usage"], f"{where} usage", self.notes)
        for choice in choices:
            self._choice(mapping(choice), where)

    def _choice(self, entry: dict[str, Json], where: str) -> None:
        index = entry.get("index")
        if type(index) is not int or not 0 <= index <= len(self._choices):
            self.notes.add(where, f"choice index {index!r}: choices must first appear in order")
            return
        if index == len(self._choices):
            self._choices.append(_Choice())
        choice = self._choices[index]
        delta = mapping(entry.get("delta"))
        if not choice.role_seen:
            choice.role_seen = True
            self.notes.add_unless(
                delta.get("role") == "assistant",
                where,
                f"the first delta of choice {index} must carry role assistant",
            )
        if choice.word is not None:
            fresh = bool(delta.get("content") or delta.get("tool_calls"))
            self.notes.add_unless(not fresh, where, "content after finish_reason")
        choice.text.append(text(delta.get("content")))
        choice.reasoning.append(text(delta.get("reasoning_content") or delta.get("reasoning")))
        for call in items(delta.get("tool_calls")):
            self._call(choice, mapping(call), where)
        word = text_or_none(entry.get("finish_reason"))
        if word is not None:
            self.notes.add_unless(choice.word is None, where, "finish_reason a second time")
            choice.word = word

    def _call(self, choice: _Choice, entry: dict[str, Json], where: str) -> None:
        index = entry.get("index")
        function = mapping(entry.get("function"))
        if type(index) is not int or not 0 <= index <= len(choice.calls):
            self.notes.add(where, f"tool call index {index!r}: no gaps, one call after the other")
            return
        if index == len(choice.calls):
            call_id, name = text(entry.get("id")), text(function.get("name"))
            self.notes.add_unless(
                bool(call_id and name), where, "a tool call's first delta needs id and name"
            )
            choice.calls.append(_CallParts(call_id, name))
        else:
            # SDKs concatenate strings: a repeated id becomes call_1call_1.
            repeated = bool(entry.get("id") or function.get("name"))
            self.notes.add_unless(not repeated, where, "a tool call's id and name come once")
            self.notes.add_unless(
                index == len(choice.calls) - 1, where, "finish one tool call before the next"
            )
        choice.calls[index].arguments.append(text(function.get("arguments")))

    def finish(self) -> Reply:
        if self._error is None:
            self.notes.add_unless(bool(self._choices), "end of stream", "no choice was sent")
            for index, choice in enumerate(self._choices):
                ended = choice.word is not None
                self.notes.add_unless(
                    ended, "end of stream", f"choice {index} has no finish_reason"
                )
            self.notes.add_unless(self._done > 0, "end of stream", "data: [DONE] is missing")
            if self.usage_expected:
                self.notes.add_unless(
                    self._usage is not None, "end of stream", "the usage chunk asked for is missing"
                )
        replies = [self._reply(choice) for choice in self._choices] or [Reply()]
        first = replies[0]
        return Reply(
            first.text,
            first.reasoning,
            first.calls,
            Finish.FAILED if self._error else first.finish,
            first.finish_word,
            usage=self._usage,
            id=text_or_none(self._constants.get("id")),
            model=text_or_none(self._constants.get("model")),
            error=self._error,
            others=tuple(replies[1:]),
            problems=tuple(self.notes.found),
        )

    def _reply(self, choice: _Choice) -> Reply:
        return Reply(
            "".join(choice.text),
            "".join(choice.reasoning),
            tuple(Call(call.id, call.name, "".join(call.arguments)) for call in choice.calls),
            FINISH_WORDS["chat"].get(choice.word, Finish.OTHER) if choice.word else None,
            choice.word,
        )
