"""FROM-10: the same visible conversation is the same, whatever route it came by."""

import json
from typing import Any

import pytest

from halogen_reference.call import Opening
from halogen_reference.conversation import Conversation
from halogen_reference.dialects import DIALECTS
from halogen_reference.reply import Finish
from tests.dialects import chat_bodies, messages_bodies, responses_bodies
from tests.dialects.requests import parse
from tests.dialects.samples import Calling, Think, run

SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}}
CHAT, MESSAGES, RESPONSES = DIALECTS
BODIES: dict[str, Any] = {
    CHAT: chat_bodies.body(
        [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "where?"},
            {
                "role": "assistant",
                "content": "I look.",
                "reasoning_content": "hm",
                "tool_calls": [chat_bodies.tool_call('{"at": "sea", "n": 1}', "call_a1")],
            },
            {"role": "tool", "tool_call_id": "call_a1", "content": "waves"},
            {"role": "developer", "content": "be short"},
            {"role": "user", "content": "so?"},
            {"role": "assistant", "content": "There are "},
        ],
        tools=[{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
        continue_final_message=True,
    ),
    MESSAGES: messages_bodies.body(
        [
            {"role": "user", "content": "where?"},
            messages_bodies.assistant(
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                messages_bodies.text("I look."),
                messages_bodies.tool_use({"n": 1.0, "at": "sea"}, "toolu_a1"),
            ),
            messages_bodies.user(
                {"type": "tool_result", "tool_use_id": "toolu_a1", "content": "waves"}
            ),
            {"role": "system", "content": "be short"},
            {"role": "user", "content": "so?"},
            {"role": "assistant", "content": "There are "},
        ],
        system="be kind",
        tools=[{"name": "look", "input_schema": SCHEMA}],
    ),
    RESPONSES: responses_bodies.body(
        [
            {"role": "user", "content": "where?"},
            responses_bodies.thought("hm"),
            responses_bodies.said("I look."),
            responses_bodies.called('{"n":1,"at":"sea"}', "call_a1"),
            responses_bodies.output("waves", "call_a1"),
            {"role": "developer", "content": "be short"},
            {"role": "user", "content": "so?"},
            {"role": "assistant", "content": "There are "},
        ],
        instructions="be kind",
        tools=[{"type": "function", "name": "look", "parameters": SCHEMA}],
    ),
}


def test_three_routes_one_conversation() -> None:
    calls = [parse(path, body).call for path, body in BODIES.items()]
    assert len(calls[0].conversation.items) == 7
    for call in calls:
        assert call.conversation == calls[0].conversation
        assert call.opening is Opening.CONTINUE


@pytest.mark.parametrize("path", BODIES)
def test_a_reply_sent_back_on_its_route_is_the_same_item(path: str) -> None:
    """FROM-11: text, reasoning and a call, through each route's JSON and in again."""
    reply = run(
        Think("hm"),
        "I look.",
        Calling("a1", "look", ('{"at": "sea", ', '"n": 1}')),
        finish=Finish.TOOL_CALLS,
    )
    start = parse(path, opening(path))
    answer: Any = DIALECTS[path].reply(start, [reply])
    again = parse(path, opening(path, *sent_back(path, answer)))
    expected = parse(CHAT, BODIES[CHAT]).call.conversation.items[1:3]
    assert again.call.conversation == Conversation((*expected, *again.call.conversation.items[2:]))


def opening(path: str, *more: Any) -> Any:
    history = [{"role": "user", "content": "where?"}, *more]
    field = "input" if path == RESPONSES else "messages"
    return {"model": "m", "max_tokens": 9, field: history}


def sent_back(path: str, answer: Any) -> list[Any]:
    ask = {"role": "user", "content": "so?"}
    if path == CHAT:
        return [answer["choices"][0]["message"], ask]
    if path == MESSAGES:
        return [{"role": "assistant", "content": answer["content"]}, ask]
    return [*answer["output"], ask]


@pytest.mark.parametrize("path", sorted(DIALECTS))
def test_a_request_need_not_name_the_model(path: str) -> None:
    key = "input" if path == "/v1/responses" else "messages"
    body = {key: [{"role": "user", "content": "hi"}], "max_tokens": 4}

    def only_one(name: str | None) -> str:
        assert name is None
        return "the-one"

    request = DIALECTS[path].parse(json.dumps(body).encode(), check_model=only_one)
    assert request.call.model == "the-one"
