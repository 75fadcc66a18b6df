"""Replies in the requests of Responses: items of ``input`` instead of messages."""

import copy
import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from halogen_simulator.traffic.recording import Recorded, blocks, call_marked, marked
from halogen_simulator.traffic.replies import NO_RESULT, Said

Item = dict[str, Any]


def repeated(record: Recorded) -> set[int]:
    """The requests whose replies a request repeats."""
    return {n for n in map(_reply, _items(record)) if n is not None}


def put_into(record: Recorded, said: Mapping[int, Said]) -> list[Item]:
    """The request's items with the server's replies for the recorded ones, as on Messages: an
    output whose call the server did not make becomes a text, a call nobody answered gets one."""
    items: list[Item] = []
    for n, recorded in groupby(_items(record), key=_reply):
        if n is not None and n in said:
            items += _spelled(said[n])
        else:
            items += (_output(item, said) for item in copy.deepcopy(list(recorded)))
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    return [one for item in items for one in (item, *_missing(item, answered))]


def _items(record: Recorded) -> list[Item]:
    found = record.body.get("input") if isinstance(record.body, dict) else None
    # A reply's reasoning has no mark, and a server that does not sign it does not want it back.
    return [
        item
        for item in (found if isinstance(found, list) else [])
        if isinstance(item, dict) and item.get("type") != "reasoning"
    ]


def _reply(item: Item) -> int | None:
    """The number of the request whose reply an item is part of."""
    if item.get("type") == "function_call":
        found = call_marked(item.get("call_id"))
        return found[0] if found else None
    if item.get("role") != "assistant":
        return None
    return next((n for n in map(marked, blocks(item.get("content"))) if n is not None), None)


def _spelled(said: Said) -> Iterator[Item]:
    for block in said.content:
        if block["type"] == "text":
            part = {"type": "output_text", "text": block["text"]}
            yield {"type": "message", "role": "assistant", "content": [part]}
        elif block["type"] == "tool_use":
            yield {
                "type": "function_call",
                "call_id": block["id"],
                "name": block["name"],
                "arguments": json.dumps(block["input"]),
            }


def _output(item: Item, said: Mapping[int, Said]) -> Item:
    if item.get("type") != "function_call_output":
        return item
    found = call_marked(item.get("call_id"))
    if found is None or found[0] not in said:
        return item
    calls = said[found[0]].calls
    if found[1] <= len(calls):
        return {**item, "call_id": calls[found[1] - 1]}
    text = item.get("output")
    shown = text if isinstance(text, str) else json.dumps(text)
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": shown}]}


def _missing(item: Item, answered: set[str]) -> Iterator[Item]:
    if item.get("type") == "function_call" and item["call_id"] not in answered:
        call = item["call_id"]
        yield {"type": "function_call_output", "call_id": call, "output": NO_RESULT}
