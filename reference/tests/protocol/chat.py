"""Chat Completions as the tests speak it."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.protocol.spoken import History, Json, Reply, ToolCall, added, openai_error


class Chat:
    """``/v1/chat/completions``"""

    name = "chat"
    path = "/v1/chat/completions"

    def body(self, history: History, *, partial: str | None, stream: bool, **extra: Any) -> Json:
        messages = [{"role": role, "content": text} for role, text in history]
        body: Json = {"model": "any", "messages": messages, "temperature": 0, "max_tokens": 6}
        if partial is not None:
            messages.append({"role": "assistant", "content": partial})
            body["continue_final_message"] = True
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {**body, **extra}

    def tools(self, tools: Iterable[Json], choice: str = "auto", *, parallel: bool = True) -> Json:
        known = choice in ("auto", "none", "required")
        return {
            "tools": [{"type": "function", "function": tool} for tool in tools],
            "tool_choice": choice if known else {"type": "function", "function": {"name": choice}},
            "parallel_tool_calls": parallel,
        }

    def with_results(self, body: Json, reply: Reply, results: Mapping[str, str]) -> Json:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.calls
        ]
        said: Json = {"role": "assistant", "content": reply.text or None, "tool_calls": calls}
        found = [
            {"role": "tool", "tool_call_id": call_id, "content": text}
            for call_id, text in results.items()
        ]
        return added(body, "messages", said, *found)

    def with_text(self, body: Json, text: str) -> Json:
        return added(body, "messages", {"role": "user", "content": text})

    def whole(self, body: Json) -> Reply:
        choice = body["choices"][0]
        message = choice["message"]
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        )
        return self._reply(message["content"] or "", calls, choice["finish_reason"], body["usage"])

    def streamed(self, events: Iterable[Json]) -> Reply:
        text, finish, usage = "", None, None
        calls: dict[int, ToolCall] = {}
        for event in events:
            assert "error" not in event, event
            for choice in event["choices"]:
                if choice["index"] == 0:
                    text += choice["delta"].get("content") or ""
                    finish = choice["finish_reason"] or finish
                    for piece in choice["delta"].get("tool_calls") or ():
                        _put_together(calls, piece)
            usage = event.get("usage") or usage
        assert finish and usage, "the stream ended without its end"
        return self._reply(text, tuple(calls.values()), finish, usage)

    def error(self, body: Json) -> str:
        return openai_error(body)

    @staticmethod
    def _reply(text: str, calls: tuple[ToolCall, ...], finish: str, usage: Json) -> Reply:
        return Reply(
            text=text,
            finish={"stop": "end", "length": "length", "tool_calls": "calls"}[finish],
            prompt=usage["prompt_tokens"],
            cached=usage["prompt_tokens_details"]["cached_tokens"],
            output=usage["completion_tokens"],
            calls=calls,
        )


def _put_together(calls: dict[int, ToolCall], piece: Json) -> None:
    """A call's first piece has its id and name, each has some of its arguments."""
    function = piece["function"]
    before = calls.get(piece["index"]) or ToolCall(piece["id"], function["name"], "")
    arguments = before.arguments + (function.get("arguments") or "")
    calls[piece["index"]] = ToolCall(before.id, before.name, arguments)
