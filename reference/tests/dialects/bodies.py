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

RICH: dict[str, list[Any]] = {"/v1/chat/completions": _CHAT}
