"""Nothing of somebody's stays in a recording, and what is equal stays equal."""

import json
import re
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halogen_simulator.traffic.generator import Plan, traffic
from halogen_simulator.traffic.hindsight import Hindsight
from halogen_simulator.traffic.masks import Masks
from halogen_simulator.traffic.placeholders import SHORTEST, standing_for
from halogen_simulator.traffic.recording import Recorded
from halogen_simulator.traffic.replies import Said

TEXTS = st.text(alphabet=string.ascii_letters + string.digits + "é \n/", min_size=1, max_size=60)
SECRET = "hunter2-sesame-9917"


@pytest.fixture
def masks() -> Masks:
    return Masks(b"salt")


@given(TEXTS, TEXTS)
def test_placeholders(one: str, other: str) -> None:
    masked = standing_for(one, b"salt")
    assert len(masked) == max(len(one), SHORTEST)
    assert (masked == standing_for(other, b"salt")) == (one == other)
    assert masked != standing_for(one, b"other salt")
    assert re.fullmatch(r"[0-9a-f]{8}[a-z .]*", masked)


def secrets_everywhere(secret: str) -> dict[str, Any]:
    """A request with a secret in every place a client may put a text of somebody's."""
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 5,
        "system": [{"type": "text", "text": f"x-anthropic-billing-header: cc_x={secret}; y"}],
        "messages": [
            {"role": "user", "content": secret},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": secret},
                    {"type": "thinking", "thinking": secret, "signature": secret},
                    {
                        "type": "tool_use",
                        "id": f"toolu_{secret}",
                        "name": "Bash",
                        "input": {
                            "command": secret,
                            "type": secret,
                            "name": secret,
                            "role": [secret],
                            "deep": {"id": secret, "model": secret},
                        },
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": f"toolu_{secret}", "content": secret},
                    {"type": "image", "source": {"type": "base64", "data": secret}},
                    {"type": "document", "source": {"type": "text", "data": secret}},
                ],
            },
        ],
        "tools": [
            {
                "name": "Bash",
                "description": secret,
                "input_schema": {
                    "type": "object",
                    "description": secret,
                    "properties": {"type": {"type": "string", "enum": [secret], "default": secret}},
                },
            }
        ],
        "metadata": {
            "user_id": json.dumps({"account_uuid": secret, "session_id": secret}),
            "note": secret,
        },
        "input": [
            {"type": "function_call", "call_id": secret, "arguments": json.dumps({"a": secret})},
            {"type": "function_call_output", "call_id": secret, "output": secret},
            {"type": "reasoning", "id": secret, "encrypted_content": secret},
        ],
        "instructions": secret,
        "prompt_cache_key": secret,
        "client_metadata": {"session_id": secret},
        "stop_sequences": [secret],
        "unknown": {"field": secret},
    }


def test_no_secret_stays(masks: Masks) -> None:
    body = masks.body(secrets_everywhere(SECRET))
    assert SECRET not in json.dumps(body)
    headers = {
        "X-Api-Key": SECRET,
        "Authorization": f"Bearer {SECRET}",
        "Cookie": SECRET,
        "X-Claude-Code-Session-Id": SECRET,
        "X-Claude-Code-Agent-Id": SECRET,
        "X-Unknown": SECRET,
        "User-Agent": "claude-cli/2.1.332 (external, cli)",
    }
    masked = masks.headers(headers)
    assert SECRET not in json.dumps(masked)
    assert masked["x-api-key"] == "sk-example-key-1"
    assert masked["authorization"] == "Bearer sk-example-key-1"
    assert masked["user-agent"] == headers["User-Agent"]
    assert not {"cookie", "x-unknown"} & masked.keys()


@given(st.text(string.ascii_letters, min_size=4, max_size=20).map("7q".__add__))
@settings(max_examples=50)
def test_no_text_stays(secret: str) -> None:
    assert secret not in json.dumps(Masks(b"salt").body(secrets_everywhere(secret)))


def test_the_form_stays(masks: Masks) -> None:
    body = secrets_everywhere(SECRET)
    masked = masks.body(body)
    assert list(masked) == list(body)
    assert [tool["name"] for tool in masked["tools"]] == ["Bash"]
    schema = masked["tools"][0]["input_schema"]
    assert schema["type"] == "object" and schema["properties"]["type"]["type"] == "string"
    assert masked["max_tokens"] == 5 and masked["model"] == "claude-opus-5-5"
    assert [message["role"] for message in masked["messages"]] == ["user", "assistant", "user"]
    result, image, document = masked["messages"][2]["content"]
    assert result["type"] == "tool_result" and image["type"] == document["type"] == "text"


def test_calls_and_their_results_stay_together(masks: Masks) -> None:
    masked = masks.body(secrets_everywhere(SECRET))
    call = masked["messages"][1]["content"][2]
    assert masked["messages"][2]["content"][0]["tool_use_id"] == call["id"]
    first, second = masked["input"][:2]
    assert first["call_id"] == second["call_id"]
    json.loads(first["arguments"])


def test_ids_tell_threads_apart(masks: Masks) -> None:
    name = "x-claude-code-agent-id"
    ids = [masks.headers({name: value})[name] for value in ("one", "two", "one")]
    assert ids[0] == ids[2] != ids[1]
    parent = masks.headers({"x-claude-code-parent-agent-id": "two"})
    assert parent["x-claude-code-parent-agent-id"] == ids[1]


def test_the_attribution_line(masks: Masks) -> None:
    line = "x-anthropic-billing-header: cc_version=2.1.332.fb8; cc_entrypoint=cli; cch=0a1b2; "
    line += "cc_is_subagent=true;"
    (system,) = masks.body({"system": [{"type": "text", "text": line}]})["system"]
    pattern = r"cc_version=2\.1\.332\.(\w{3}); cc_entrypoint=cli; cch=(\w{5}); cc_is_subagent=true;"
    found = re.fullmatch("x-anthropic-billing-header: " + pattern, system["text"])
    assert found and found[1] != "fb8" and found[2] != "0a1b2"
    (again,) = masks.body({"system": [{"type": "text", "text": line + "\nTheir words."}]})["system"]
    assert again["text"].startswith(system["text"] + "\n") and "Their" not in again["text"]


def test_the_session_in_both_forms_of_the_metadata(masks: Masks) -> None:
    session = "01234567-89ab-4cde-8f01-23456789abcd"
    (known,) = masks.headers({"x-claude-code-session-id": session}).values()
    old = f"user_{'a' * 64}_account_x_session_{session}"
    new = json.dumps({"device_id": "a", "account_uuid": "b", "session_id": session})
    for user_id in (old, new):
        masked = masks.body({"metadata": {"user_id": user_id}})["metadata"]["user_id"]
        assert known in masked and session not in masked and "a" * 64 not in masked


def test_replies_are_marked_where_they_are_repeated(masks: Masks) -> None:
    reply: list[dict[str, Any]] = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_abc", "name": "Bash", "input": {"command": "ls"}},
    ]
    masks.reply(7, Said(reply, ["toolu_abc"]))
    history = [
        {"role": "assistant", "content": reply},
        {"role": "user", "content": "I look."},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_abc"}]},
    ]
    said, quoted, result = masks.body({"messages": history})["messages"]
    assert said["content"][0]["text"].startswith("reply-7: ")
    assert said["content"][1]["id"] == "toolu_0007_1" == result["content"][0]["tool_use_id"]
    assert not quoted["content"].startswith("reply-")


def test_replies_that_are_alike_are_known_by_their_place(masks: Masks) -> None:
    """A mark could name the wrong one; and one that is taken away again changes no history."""
    user, reply = {"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}
    records = []
    for n in range(1, 4):
        body = {"tools": [{"name": "x"}], "messages": [user, *[reply, user] * (n - 1)]}
        records.append(Recorded(n, "POST", "/v1/messages", {}, masks.body(body)))
        masks.reply(n, Said([{"type": "text", "text": "Done."}], []))
    seen = Hindsight(records)
    assert [seen.reply_of(records[2], at) for at in (1, 3)] == [1, 2]
    assert [placed.base for placed in seen.placed()] == [None, 1, 2]


def test_masked_traffic_is_told_apart_as_before(masks: Masks) -> None:
    """Kinds, and who repeats whom, are the same before and after."""
    made = [planned.record for planned in traffic(Plan(sessions=2, seed=5))]
    masked = [
        Recorded(one.n, one.method, one.path, masks.headers(one.headers), masks.body(one.body))
        for one in made
    ]
    before, after = (Hindsight(records).placed() for records in (made, masked))
    assert [(one.kind, one.base) for one in before] == [(one.kind, one.base) for one in after]
