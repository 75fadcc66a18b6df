"""Responses events to a reply, with the order the SDK and Codex insist on."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.reading import (
    Notes,
    items,
    mapping,
    openai_error,
    parse_json,
    text,
    text_or_none,
)
from halogen_conformance.drivers.reply import Finish, Reply, WireError
from halogen_conformance.drivers.responses_output import function_call, message_text, read_response
from halogen_conformance.drivers.sse import SseEvent

_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
_IDENTITY = ("id", "call_id", "type", "name")
"""Fields of an item that may not change between added, done and the final output."""


@dataclass(slots=True)
class _Item:
    added: dict[str, Json]
    done: dict[str, Json] | None = None
    parts: set[int] = field(default_factory=set)
    text: dict[str, list[str]] = field(default_factory=dict)
    """Delta event kind to the pieces received."""


@dataclass(slots=True)
class ResponsesFold:
    """Folds the events of a Responses stream, numbered from 0, into one reply."""

    usage_expected: bool = True
    notes: Notes = field(default_factory=Notes)
    _items: list[_Item] = field(default_factory=list)
    _response_id: str | None = None
    _model: str | None = None
    _final: dict[str, Json] | None = None
    _error: WireError | None = None
    _sequence: int = -1
    _number: int = -1
    _done: bool = False

    def feed(self, event: SseEvent) -> None:
        if event.comment is not None:
            return
        self._number += 1
        where = f"event {self._number}"
        self.notes.add_unless(
            event.id is None and event.retry is None and not event.odd_lines,
            where,
            "only event: and data: lines belong in this stream",
        )
        self.notes.add_unless(not self._done, where, "an event after [DONE]")
        if event.is_done:
            self._done = True
            return
        try:
            data = mapping(parse_json(event.data or ""))
        except ValueError:
            self.notes.add(where, "data is not JSON (SDKs raise here)")
            return
        kind = text(data.get("type"))
        self.notes.add_unless(
            event.name == kind, where, f"event name {event.name!r} must equal its type {kind!r}"
        )
        self.notes.add_unless(self._final is None, where, f"{kind} after the terminal event")
        self._check_sequence(data, where)
        if self._number == 0:
            first = kind in ("response.created", "error")
            self.notes.add_unless(first, where, f"{kind} where response.created must be first")
        self._dispatch(kind, data, where)

    def _check_sequence(self, data: dict[str, Json], where: str) -> None:
        number = data.get("sequence_number")
        if type(number) is not int:
            self.notes.add(where, "sequence_number is missing")
            return
        self.notes.add_unless(
            number == self._sequence + 1,
            where,
            f"sequence_number {number} where {self._sequence + 1} was due",
        )
        self._sequence = number

    def _dispatch(self, kind: str, data: dict[str, Json], where: str) -> None:
        if "response" in data:
            self._check_identity(mapping(data["response"]), where)
        if kind in _TERMINAL:
            self._final = mapping(data.get("response"))
            status = self._final.get("status")
            self.notes.add_unless(
                f"response.{status}" == kind, where, f"status {status!r} in {kind}"
            )
        elif kind == "error":
            self.notes.add(where, "a bare error event; Codex understands only response.failed")
            body = data if "error" in data else {"error": data}
            self._error = openai_error(body, Notes(), in_band=True)
        elif kind == "response.output_item.added":
            due = data.get("output_index") == len(self._items)
            self.notes.add_unless(due, where, f"output_index {data.get('output_index')!r}: a gap")
            self._items.append(_Item(mapping(data.get("item"))))
        elif kind == "response.output_item.done":
            self._item_done(data, where)
        elif "output_index" in data:
            self._inside(kind, data, where)

    def _check_identity(self, response: dict[str, Json], where: str) -> None:
        found = text_or_none(response.get("id"))
        if self._response_id is None:
            self._response_id = found
            self._model = text_or_none(response.get("model"))
        self.notes.add_unless(found == self._response_id, where, "response.id changed")

    def _item(self, data: dict[str, Json], where: str) -> _Item | None:
        index = data.get("output_index")
        if type(index) is not int or not 0 <= index < len(self._items):
            self.notes.add(where, f"{data.get('type')} for item {index!r}, which was not added")
            return None
        item = self._items[index]
        if "item_id" in data:
            same = data["item_id"] == item.added.get("id")
            self.notes.add_unless(same, where, "item_id is not that of the item added")
        self.notes.add_unless(item.done is None, where, f"{data.get('type')} after the item's done")
        return item

    def _inside(self, kind: str, data: dict[str, Json], where: str) -> None:
        item = self._item(data, where)
        if item is None:
            return
        if kind == "response.content_part.added":
            item.parts.add(data.get("content_index") or 0)
        elif kind.endswith(".delta"):
            if "content_index" in data:
                known = data["content_index"] in item.parts
                self.notes.add_unless(known, where, f"{kind} before its content_part.added")
            item.text.setdefault(kind.removesuffix(".delta"), []).append(text(data.get("delta")))
        elif kind.endswith(".done"):
            base = kind.removesuffix(".done")
            key = "arguments" if base.endswith("arguments") else "text"
            if key in data:
                same = "".join(item.text.get(base, [])) == data[key]
                self.notes.add_unless(same, where, f"{key} of {kind} is not the sum of its deltas")

    def _item_done(self, data: dict[str, Json], where: str) -> None:
        item = self._item(data, where)
        if item is None:
            return
        item.done = mapping(data.get("item"))
        _check_same(item.added, item.done, where, self.notes)
        streamed = "".join(item.text.get("response.output_text", []))
        if item.done.get("type") == "message":
            same = message_text(item.done) == streamed
            self.notes.add_unless(same, where, "the item's text is not the sum of its deltas")
        if item.done.get("type") == "function_call":
            pieces = "".join(item.text.get("response.function_call_arguments", []))
            same = function_call(item.done).arguments == pieces
            self.notes.add_unless(same, where, "the call's arguments are not the sum of its deltas")

    def finish(self) -> Reply:
        end = "end of stream"
        if self._final is None:
            if self._error is None:
                self.notes.add(end, "no terminal event (response.completed or the like)")
            reply = self._unfinished()
        else:
            self._check_output(end)
            reply = read_response(self._final, self.notes)
            if self.usage_expected and reply.error is None:
                self.notes.add_unless(reply.usage is not None, end, "usage is missing")
        return reply.with_problems(*self.notes.found)

    def _check_output(self, end: str) -> None:
        output = [mapping(item) for item in items((self._final or {}).get("output"))]
        # A stream of created and completed alone is legal; otherwise both must tell the same.
        if self._items and mapping(self._final).get("status") != "failed":
            same = len(output) == len(self._items)
            self.notes.add_unless(same, end, "final output and streamed items differ in number")
        for item, final in zip(self._items, output, strict=False):
            self.notes.add_unless(item.done is not None, end, "an item never got its done event")
            _check_same(item.done or item.added, final, end, self.notes)
            if item.done is not None and final.get("type") == "message":
                same = message_text(item.done) == message_text(final)
                self.notes.add_unless(same, end, "final output and streamed text differ")

    def _unfinished(self) -> Reply:
        """What had arrived when the stream was cut short, or aborted by the test itself."""
        texts, thoughts = [], []
        for item in self._items:
            texts.extend(item.text.get("response.output_text", []))
            thoughts.extend(item.text.get("response.reasoning_text", []))
        return Reply(
            "".join(texts),
            "".join(thoughts),
            finish=Finish.FAILED if self._error else None,
            id=self._response_id,
            model=self._model,
            error=self._error,
        )


def _check_same(before: dict[str, Json], after: dict[str, Json], where: str, notes: Notes) -> None:
    for key in _IDENTITY:
        if key in before:
            notes.add_unless(before[key] == after.get(key), where, f"the item's {key} changed")
