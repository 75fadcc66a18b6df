"""Puts a server's own replies where a recording has its marks."""

import copy
import json
from dataclasses import dataclass
from typing import Any

from halogen_conformance.drivers.reply import Reply
from halogen_simulator.traffic.hindsight import Hindsight
from halogen_simulator.traffic.recording import Message, Recorded, blocks

NO_RESULT = "[nothing was recorded for this call]"


@dataclass(frozen=True, slots=True)
class Said:
    """A server's reply as a client sends it back."""

    content: list[dict[str, Any]]
    calls: list[str]
    """Ids of its tool calls."""


def said(reply: Reply) -> Said:
    """Raises ValueError for a tool call that was cut off."""
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": ""})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    for call in reply.calls:
        arguments = json.loads(call.arguments)
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return Said(content, [call.id for call in reply.calls])


class Replies:
    """The replies of one run, by the number of the request they answered."""

    def __init__(self, hindsight: Hindsight) -> None:
        self._hindsight = hindsight
        self.said: dict[int, Said] = {}

    def note(self, n: int, reply: Said) -> None:
        self.said[n] = reply

    def needed(self, record: Recorded) -> set[int]:
        """The requests whose replies a request repeats."""
        found = (
            self._hindsight.reply_of(record, at)
            for at, message in enumerate(record.messages)
            if message.get("role") == "assistant"
        )
        return {n for n in found if n is not None}

    def put_into(self, record: Recorded) -> list[Message]:
        """The request's messages with the server's replies for the recorded ones.

        Tool results go to the calls that the server made; a result whose call it did not make
        becomes a text, and a call nobody answered gets an empty result: every server takes that.
        """
        messages: list[Message] = []
        ids: dict[str, str | None] = {}
        open_calls: list[str] = []
        for at, message in enumerate(record.messages):
            if message.get("role") == "assistant":
                content, ids = self._reply(record, at)
                open_calls = [block["id"] for block in content if block["type"] == "tool_use"]
                # An empty reply is sent back as an empty text.
                messages.append({**message, "content": content or ""})
            elif message.get("role") == "user" and (ids or open_calls):
                messages.append(_with_results(message, ids, open_calls))
                ids, open_calls = {}, []
            else:
                messages.append(copy.deepcopy(message))
        return messages

    def _reply(
        self, record: Recorded, at: int
    ) -> tuple[list[dict[str, Any]], dict[str, str | None]]:
        """The content for message ``at``, and its recorded call ids with what they are now."""
        message = record.messages[at]
        recorded = copy.deepcopy(blocks(message.get("content")))
        recorded_calls = [block["id"] for block in recorded if block.get("type") == "tool_use"]
        n = self._hindsight.reply_of(record, at)
        reply = self.said.get(n) if n is not None else None
        if n is None or reply is None:
            return recorded, {call: call for call in recorded_calls}
        shape = self._hindsight.shape(n)
        now = {
            call: reply.calls[place] if place < len(reply.calls) else None
            for place, call in enumerate(shape.calls)
        }
        if shape.is_whole(message):
            return copy.deepcopy(reply.content), {call: now[call] for call in recorded_calls}
        # A part of the reply: the calls it names, as the server made them or as recorded.
        made = {block["id"]: block for block in reply.content if block["type"] == "tool_use"}
        part = [made.get(now.get(block.get("id", "")) or "", block) for block in recorded]
        return copy.deepcopy(part), {call: now.get(call) or call for call in recorded_calls}


def _with_results(message: Message, ids: dict[str, str | None], calls: list[str]) -> Message:
    results, rest = [], []
    for block in blocks(message.get("content")):
        block = copy.deepcopy(block)
        if block.get("type") != "tool_result":
            rest.append(block)
            continue
        call = ids.get(block.get("tool_use_id", ""), block.get("tool_use_id"))
        if call in calls:
            results.append({**block, "tool_use_id": call})
        else:
            rest += blocks(block.get("content"))
    answered = {block["tool_use_id"] for block in results}
    missing = [
        {"type": "tool_result", "tool_use_id": call, "content": NO_RESULT}
        for call in calls
        if call not in answered
    ]
    if not results and not missing and rest == blocks(message.get("content")):
        return copy.deepcopy(message)
    # Results come first, as the public API asks.
    return {**message, "content": [*results, *missing, *rest]}
