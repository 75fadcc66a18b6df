"""Responses as the tests speak it."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.protocol.spoken import History, Json, Reply, ToolCall, added, openai_error

_FIELDS = {"max_tokens": "max_output_tokens"}
"""What a field of Chat Completions is called here, where it has another name."""


class Responses:
    """``/v1/responses``"""

    name = "responses"
    path = "/v1/responses"

    def body(self, history: History, *, partial: str | None, stream: bool, **extra: Any) -> Json:
        body: Json = {"model": "any", "temperature": 0, "max_output_tokens": 6}
        turns = list(history)
        if turns and turns[0][0] == "system":
            body["instructions"] = turns.pop(0)[1]
        if partial is not None:
            turns.append(("assistant", partial))
        body["input"] = [{"role": role, "content": text} for role, text in turns]
        if stream:
            body["stream"] = True
        return {**body, **{_FIELDS.get(name, name): value for name, value in extra.items()}}

    def tools(self, tools: Iterable[Json], choice: str = "auto", *, parallel: bool = True) -> Json:
        known = choice in ("auto", "none", "required")
        return {
            "tools": [{"type": "function", **tool} for tool in tools],
            "tool_choice": choice if known else {"type": "function", "name": choice},
            "parallel_tool_calls": parallel,
        }

    def with_results(self, body: Json, reply: Reply, results: Mapping[str, str]) -> Json:
        said: list[Json] = [{"role": "assistant", "content": reply.text}] if reply.text else []
        said += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }
            for call in reply.calls
        ]
        found = [
            {"type": "function_call_output", "call_id": call_id, "output": text}
            for call_id, text in results.items()
        ]
        return added(body, "input", *said, *found)

    def with_text(self, body: Json, text: str) -> Json:
        return added(body, "input", {"role": "user", "content": text})

    def whole(self, body: Json) -> Reply:
        text, calls = "", []
        for item in body["output"]:
            if item["type"] == "message":
                text += "".join(part["text"] for part in item["content"])
            elif item["type"] == "function_call":
                calls.append(ToolCall(item["call_id"], item["name"], item["arguments"]))
        if body["status"] == "incomplete":
            assert body["incomplete_details"] == {"reason": "max_output_tokens"}, body
            finish = "length"
        else:
            assert body["status"] == "completed" and body["error"] is None, body
            finish = "calls" if calls else "end"
        usage = body["usage"]
        return Reply(
            text=text,
            finish=finish,
            prompt=usage["input_tokens"],
            cached=usage["input_tokens_details"]["cached_tokens"],
            output=usage["output_tokens"],
            calls=tuple(calls),
        )

    def streamed(self, events: Iterable[Json]) -> Reply:
        heard: dict[str, str] = {}
        last: Json = {}
        for number, event in enumerate(events):
            assert event["sequence_number"] == number, event
            assert event["type"] != "error" and event["type"] != "response.failed", event
            if event["type"] == "response.output_text.delta":
                heard[event["item_id"]] = heard.get(event["item_id"], "") + event["delta"]
            last = event
        assert last.get("type") in ("response.completed", "response.incomplete"), (
            "the stream ended without its end"
        )
        reply = self.whole(last["response"])
        assert "".join(heard.values()) == reply.text, "the pieces are not the whole"
        return reply

    def error(self, body: Json) -> str:
        return openai_error(body)
