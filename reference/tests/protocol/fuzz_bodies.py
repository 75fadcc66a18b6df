"""Good bodies of every route, to break them from there, and bodies that are hard to read."""

import json
from dataclasses import dataclass

from tests.protocol.routes import ROUTES, Json, Route

SCHEMA: Json = {"type": "object"}
COMMON = (
    "model", "max_tokens", "temperature", "top_p", "stop", "seed", "presence_penalty",
    "frequency_penalty", "stream", "tools", "tool_choice", "top_k", "min_p", "repetition_penalty",
    "metadata", "thinking", "user", "",
)  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A place to post to, a body that is good there, and the fields it knows."""

    path: str
    route: Route
    rich: Json
    fields: tuple[str, ...]
    deep_arguments: str
    """A body with ``DEEP`` where a call's arguments are."""
    keeps: bool = True

    @property
    def turns(self) -> str:
        """The field that holds the history."""
        return "input" if "input" in self.rich else "messages"


CALL: Json = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "tide", "arguments": '{"day": 1}'},
}
CHAT: Json = {
    "model": "any",
    "max_tokens": 2,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "When?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "at noon"},
    ],
    "tools": [
        {"type": "function", "function": {"name": "tide", "description": "", "parameters": SCHEMA}}
    ],
}
MESSAGES: Json = {
    "model": "any",
    "max_tokens": 2,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "When?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": ""},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"day": 1}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}],
        },
        {"role": "system", "content": "9 tokens left"},
    ],
    "tools": [{"name": "tide", "description": "when", "input_schema": SCHEMA}],
}
RESPONSES: Json = {
    "model": "any",
    "max_output_tokens": 2,
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "When?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_1", "name": "tide", "arguments": '{"day": 1}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "at noon"},
    ],
    "tools": [{"type": "function", "name": "tide", "parameters": SCHEMA}],
}

DEEP = 100_000


def _deep(body: Json, old: str, new: str) -> str:
    text = json.dumps(body)
    assert text.count(old) == 1, (old, text)
    return text.replace(old, new)


_NESTED = "[" * DEEP + "]" * DEEP
_IN_TEXT = r'"{\"day\": 1}"'
_CHAT_FIELDS = (
    *COMMON, "messages", "max_completion_tokens", "n", "logit_bias", "logprobs", "top_logprobs",
    "stream_options", "parallel_tool_calls", "response_format", "continue_final_message",
    "add_generation_prompt", "echo", "modalities", "functions", "include_reasoning",
)  # fmt: skip
_MESSAGES_FIELDS = (
    *COMMON, "messages", "system", "stop_sequences", "output_config", "thread", "container",
    "context_management", "service_tier", "cache_control",
)  # fmt: skip
_RESPONSES_FIELDS = (
    *COMMON, "input", "instructions", "max_output_tokens", "parallel_tool_calls", "text", "include",
    "reasoning", "top_logprobs", "store", "previous_response_id", "truncation", "conversation",
    "prompt", "background",
)  # fmt: skip

_deep_messages = _deep(MESSAGES, '{"day": 1}', _NESTED)
FIELDS: dict[str, Field] = {
    "chat": Field(
        "/v1/chat/completions",
        ROUTES["chat"],
        CHAT,
        _CHAT_FIELDS,
        _deep(CHAT, _IN_TEXT, f'"{_NESTED}"'),
    ),
    "messages": Field(
        "/v1/messages", ROUTES["messages"], MESSAGES, _MESSAGES_FIELDS, _deep_messages
    ),
    "count_tokens": Field(
        "/v1/messages/count_tokens",
        ROUTES["messages"],
        MESSAGES,
        _MESSAGES_FIELDS,
        _deep_messages,
        keeps=False,
    ),
    "responses": Field(
        "/v1/responses",
        ROUTES["responses"],
        RESPONSES,
        _RESPONSES_FIELDS,
        _deep(RESPONSES, _IN_TEXT, f'"{_NESTED}"'),
    ),
}

HARD = (
    "deep arrays", "deep objects", "deep unknown field", "deep arguments", "open arrays",
    "huge integer", "huge limit", "huge exponent", "not a number", "lone surrogate",
    "lone surrogate as a key", "a key twice", "byte order mark", "utf-16", "null bytes",
    "too long for the model", "many messages", "many biases",
)  # fmt: skip


def hard(case: str, field: Field) -> bytes:
    """A body that is hard to read."""
    rich, open_end = field.rich, json.dumps(field.rich)[:-1]

    def said(*texts: str) -> bytes:
        turns = [{"role": "user", "content": text} for text in texts]
        return json.dumps({**rich, field.turns: turns}).encode()

    match case:
        case "deep arrays":
            return _NESTED.encode()
        case "deep objects":
            return b'{"a":' * DEEP + b"1" + b"}" * DEEP
        case "deep arguments":
            return field.deep_arguments.encode()
        case "open arrays":
            return b"[" * DEEP
        case "byte order mark":
            return b"\xef\xbb\xbf" + json.dumps(rich).encode()
        case "utf-16":
            return json.dumps(rich).encode("utf-16")
        case "null bytes":
            return said("\0" * 9)
        case "too long for the model":
            return said("a" * 10**6)
        case "many messages":
            return said(*["When?"] * 5000)
    more = {
        "deep unknown field": f'"x": {_NESTED}',
        "huge integer": f'"seed": {"9" * 5000}',
        "huge limit": f'"max_tokens": {"9" * 5000}',
        "huge exponent": '"temperature": 1e999',
        "not a number": '"temperature": NaN',
        "lone surrogate": '"stop": "\\ud83d"',
        "lone surrogate as a key": '"\\udc00": 1',
        "a key twice": '"model": "a", "model": 3',
        "many biases": json.dumps({"logit_bias": dict.fromkeys(range(40_000), -100)})[1:-1],
    }
    return f"{open_end}, {more[case]}}}".encode()
