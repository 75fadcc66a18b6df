"""FROM-8: the same meaning is the same history, a changed value is not."""

from collections.abc import Callable
from typing import Any

from tests.protocol.client import Talk, check_same
from tests.protocol.routes import Json

Namer = Callable[[str], str]

TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "When the tide comes.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}, "day": {}}},
    },
}


def call(arguments: str) -> Json:
    function = {"name": "tide", "arguments": arguments}
    return {"id": "call_7", "type": "function", "function": function}


def body(arguments: str = '{"place": "Bay", "day": 2}') -> Json:
    """A conversation with a tool call and its result in it."""
    return {
        "model": "any",
        "temperature": 0,
        "max_tokens": 6,
        "tool_choice": "none",
        "tools": [TOOL],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "When is high tide?"},
            {"role": "assistant", "content": None, "tool_calls": [call(arguments)]},
            {"role": "tool", "tool_call_id": "call_7", "content": "at noon"},
        ],
    }


def message(at: int, **fields: object) -> Callable[[Json], None]:
    return lambda changed: changed["messages"][at].update(fields)


def marked(text: str) -> list[Json]:
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


SAME: dict[str, Callable[[Json], Any]] = {
    "as it was": lambda changed: None,
    "system as a block": message(0, content=marked("Be brief.")),
    "user as a block": message(1, content=[{"type": "text", "text": "When is high tide?"}]),
    "cache mark": message(1, content=marked("When is high tide?")),
    "empty text beside the call": message(2, content=""),
    "no text beside the call": lambda changed: changed["messages"][2].pop("content"),
    "arguments in another order": message(2, tool_calls=[call('{"day":2,"place":"Bay"}')]),
    "arguments with other numbers": message(2, tool_calls=[call('{"day":2.0,"place":"Bay"}')]),
    "result as a block": message(3, content=marked("at noon")),
    "developer for system": message(0, role="developer"),
    "names beside": message(1, name="keeper"),
    "schema in another order": lambda changed: changed.update(
        tools=[{**TOOL, "function": dict(reversed(TOOL["function"].items()))}]  # type: ignore[attr-defined]
    ),
}
CHANGED: dict[str, Callable[[Json], Any]] = {
    "another argument": message(2, tool_calls=[call('{"place": "Bay", "day": 3}')]),
    "one argument less": message(2, tool_calls=[call('{"place": "Bay"}')]),
    "a number as text": message(2, tool_calls=[call('{"place": "Bay", "day": "2"}')]),
    "another case": message(1, content="When is high Tide?"),
    "another result": message(3, content="at one"),
    "no call": lambda changed: changed["messages"].__delitem__(slice(2, 4)),
    "no tools": lambda changed: (changed.pop("tools"), changed.pop("tool_choice")),
}


def keep_tide(talk: Talk, name: Namer) -> tuple[str, list[Json]]:
    """A name, and what follows the history that is kept under it."""
    plan = name("tide")
    reply = talk.post(body(), keep=plan).text
    assert plan in talk.server.handles()
    return plan, [{"role": "assistant", "content": reply}, {"role": "user", "content": "Why?"}]


def spelled(change: Callable[[Json], Any], more: list[Json]) -> Json:
    asked = body()
    change(asked)
    asked["messages"] = asked["messages"] + more
    return asked


def test_from_8_the_same_meaning(talk: Talk, name: Namer) -> None:
    plan, more = keep_tide(talk, name)
    twin = talk.post(spelled(SAME["as it was"], more))
    for case, change in SAME.items():
        answer = talk.post(spelled(change, more), start=plan)
        assert answer.outcome == "used", case
        check_same(answer, twin)
        assert answer.cost < twin.cost // 2, case


def test_from_8_a_changed_value(whole: Talk, name: Namer) -> None:
    plan, more = keep_tide(whole, name)
    for case, change in CHANGED.items():
        answer = whole.post({**spelled(change, more), "max_tokens": 1}, start=plan)
        assert answer.outcome == "unmatched", case
    assert whole.post(spelled(SAME["as it was"], more), start=plan).outcome == "used"
