"""One or more bodies for each route that use every field the route reads."""

from typing import Any

_CHAT_TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}},
}
_CHAT: list[Any] = [
    {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": "hm",
                "reasoning_content": "so",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"at": "sea"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "waves"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        ],
        "continue_final_message": True,
        "add_generation_prompt": False,
        "echo": True,
        "tools": [_CHAT_TOOL],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "parallel_tool_calls": False,
    },
    {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [_CHAT_TOOL],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [_CHAT_TOOL]},
        },
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 5,
        "min_p": 0,
        "seed": 1,
        "repetition_penalty": 1.1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "logit_bias": {"5": 1},
        "logprobs": True,
        "top_logprobs": 2,
        "max_tokens": 5,
        "max_completion_tokens": 5,
        "n": 2,
        "stop": ["a", "b"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {"type": "text"},
        "modalities": ["text"],
        "include_reasoning": True,
    },
]

_MESSAGES: list[Any] = [
    {
        "model": "m",
        "max_tokens": 2000,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: a"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "system", "content": "be short"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "so", "signature": ""},
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "text", "text": "hm"},
                    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "sea"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": [{"type": "text", "text": "waves"}],
                        "is_error": False,
                    },
                    {"type": "search_result", "content": [], "title": "t"},
                ],
            },
            {"role": "assistant", "content": "There"},
        ],
        "tools": [{"name": "look", "description": "Look.", "input_schema": {}, "type": "custom"}],
        "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": True},
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {}}},
        "metadata": {"user_id": "u"},
        "stop_sequences": ["END"],
        "temperature": 1,
        "top_p": 1,
        "top_k": 5,
        "stream": True,
        "thread": {"type": "create"},
    },
    {
        "model": "m",
        "max_tokens": 2000,
        "messages": [{"role": "user", "content": "hi"}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    },
]
_RESPONSES_TOOL = {"type": "function", "name": "look", "parameters": {}, "description": "Look."}
_RESPONSES: list[Any] = [
    {
        "model": "m",
        "instructions": "be kind",
        "input": [
            {"type": "message", "role": "developer", "content": "a"},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "s"}],
                "content": [{"type": "reasoning_text", "text": "t"}],
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "hm"},
                    {"type": "refusal", "refusal": "no"},
                ],
            },
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "look",
                "namespace": "agents",
                "arguments": '{"at": "sea"}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "waves"},
            {"type": "custom_tool_call", "call_id": "call_2", "name": "p", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": []},
            {"type": "web_search_call", "id": "ws_1"},
            {"role": "assistant", "content": "There"},
        ],
        "tools": [
            _RESPONSES_TOOL,
            {"type": "namespace", "name": "agents", "tools": [_RESPONSES_TOOL]},
            {"type": "web_search"},
        ],
        "tool_choice": {"type": "function", "name": "look", "namespace": "agents"},
        "parallel_tool_calls": False,
        "stream": True,
    },
    {
        "model": "m",
        "input": "hi",
        "tools": [_RESPONSES_TOOL],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [_RESPONSES_TOOL]},
        "text": {"format": {"type": "text"}, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto"},
        "metadata": {"a": "b"},
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 2,
        "max_output_tokens": 9,
        "temperature": 1,
        "top_p": 1,
        "truncation": "auto",
        "stop": ["END"],
        "seed": 1,
        "background": False,
        "store": False,
    },
]

RICH: dict[str, list[Any]] = {
    "/v1/chat/completions": _CHAT,
    "/v1/messages": _MESSAGES,
    "/v1/responses": _RESPONSES,
}
