"""The output item a Responses stream is in the middle of.

Each of the two classes knows the events that open it, that add to it and that close it; the stream
numbers and sends them. ``place`` is the item's index in the output.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.ids import new_id
from halogen_reference.dialects.responses import items
from halogen_reference.dialects.responses.request import ResponsesRequest


class Kind(NamedTuple):
    """What sets one item of text apart from the other."""

    prefix: str
    """Of the item's id."""
    event: str
    """Of the events that carry the text."""
    item: Callable[[str, str, Sequence[JsonObject]], JsonObject]
    """The item from its id, status and content."""
    part: Callable[[str, Sequence[JsonObject]], JsonObject]
    """The content from the text and its log probabilities."""
    has_logprobs: bool


MESSAGE = Kind("msg_", "response.output_text", items.message, items.output_text, True)
REASONING = Kind("rs_", "response.reasoning_text", items.reasoning, items.reasoning_text, False)


@dataclass(slots=True)
class OpenText:
    """A message or reasoning: one content part that grows."""

    kind: Kind
    id: str = ""
    text: str = ""
    logprobs: list[JsonObject] = field(default_factory=list)

    def added(self, place: int) -> list[JsonObject]:
        self.id = new_id(self.kind.prefix)
        empty = self.kind.item(self.id, "in_progress", [])
        return [_item_event("added", place, empty), self._part_event("added", place)]

    def delta(self, place: int, text: str, logprobs: Sequence[JsonObject]) -> JsonObject:
        self.text += text
        self.logprobs.extend(logprobs)
        return self._text_event("delta", place, {"delta": text}, logprobs)

    def done(self, place: int, status: str) -> list[JsonObject]:
        return [
            self._text_event("done", place, {"text": self.text}, self.logprobs),
            self._part_event("done", place),
            _item_event("done", place, self.item(status)),
        ]

    def item(self, status: str) -> JsonObject:
        return self.kind.item(self.id, status, [self.kind.part(self.text, self.logprobs)])

    def _text_event(
        self, step: str, place: int, text: JsonObject, logprobs: Sequence[JsonObject]
    ) -> JsonObject:
        event: JsonObject = {"type": f"{self.kind.event}.{step}", **self._where(place), **text}
        if self.kind.has_logprobs:
            event["logprobs"] = list(logprobs)
        return event

    def _part_event(self, step: str, place: int) -> JsonObject:
        part = self.kind.part(self.text, self.logprobs)
        return {"type": f"response.content_part.{step}", **self._where(place), "part": part}

    def _where(self, place: int) -> JsonObject:
        return {"item_id": self.id, "output_index": place, "content_index": 0}


@dataclass(slots=True)
class OpenCall:
    """A function call whose arguments grow."""

    request: ResponsesRequest
    id: str
    name: str
    arguments: str = ""

    def added(self, place: int) -> list[JsonObject]:
        return [_item_event("added", place, self.item("in_progress"))]

    def delta(self, place: int, text: str, logprobs: Sequence[JsonObject]) -> JsonObject:
        self.arguments += text
        return self._event("delta", place, {"delta": text})

    def done(self, place: int, status: str) -> list[JsonObject]:
        whole = self.item(status)
        named = {"name": whole["name"], "arguments": self.arguments}
        return [self._event("done", place, named), _item_event("done", place, whole)]

    def item(self, status: str) -> JsonObject:
        return items.function_call(self.request, self.id, self.name, self.arguments, status)

    def _event(self, step: str, place: int, fields: JsonObject) -> JsonObject:
        kind = f"response.function_call_arguments.{step}"
        return {"type": kind, "item_id": f"fc_{self.id}", "output_index": place, **fields}


OpenItem = OpenText | OpenCall


def _item_event(step: str, place: int, item: JsonObject) -> JsonObject:
    return {"type": f"response.output_item.{step}", "output_index": place, "item": item}
