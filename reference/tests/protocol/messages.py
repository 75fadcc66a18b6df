"""Messages as the tests speak it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.protocol.spoken import History, Json, Reply, ToolCall, added


class Messages:
    """``/v1/messages``"""

    name = "messages"
    path = "/v1/messages"

    def body(self, history: History, *, partial: str | None, stream: bool, **extra: Any) -> Json:
        body: Json = {"model": "any", "temperature": 0, "max_tokens": 6}
        turns = list(history)
        if turns and turns[0][0] == "system":
            body["system"] = turns.pop(0)[1]
        if partial is not None:
            turns.append(("assistant", partial))
        body["messages"] = [{"role": role, "content": text} for role, text in turns]
        if stream:
            body["stream"] = True
        if "stop" in extra:
            extra["stop_sequences"] = extra.pop("stop")
        return {**body, **extra}

    def tools(self, tools: Iterable[Json], choice: str = "auto", *, parallel: bool = True) -> Json:
        kinds: dict[str, Json] = {name: {"type": name} for name in ("auto", "none")}
        kinds["required"] = {"type": "any"}
        chosen = kinds.get(choice, {"type": "tool", "name": choice})
        return {
            "tools": [
                {
                    **{key: value for key, value in tool.items() if key != "parameters"},
                    "input_schema": tool["parameters"],
                }
                for tool in tools
            ],
            "tool_choice": chosen if parallel else {**chosen, "disable_parallel_tool_use": True},
        }

    def with_results(self, body: Json, reply: Reply, results: Mapping[str, str]) -> Json:
        said: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
        said += [
            {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": json.loads(call.arguments or "{}"),
            }
            for call in reply.calls
        ]
        found = [
            {"type": "tool_result", "tool_use_id": call_id, "content": text}
            for call_id, text in results.items()
        ]
        return added(
            body,
            "messages",
            {"role": "assistant", "content": said},
            {"role": "user", "content": found},
        )

    def with_text(self, body: Json, text: str) -> Json:
        return added(body, "messages", {"role": "user", "content": text})

    def whole(self, body: Json) -> Reply:
        calls = tuple(
            ToolCall(block["id"], block["name"], json.dumps(block["input"]))
            for block in body["content"]
            if block["type"] == "tool_use"
        )
        text = "".join(block["text"] for block in body["content"] if block["type"] == "text")
        return self._reply(text, calls, body["stop_reason"], body["usage"])

    def streamed(self, events: Iterable[Json]) -> Reply:
        blocks: list[Json] = []
        pieces: list[str] = []
        usage: Json = {}
        reason, last = None, None
        for event in events:
            last = event["type"]
            match event:
                case {"type": "message_start", "message": message}:
                    usage |= message["usage"]
                case {"type": "content_block_start", "index": index, "content_block": block}:
                    assert index == len(blocks), "blocks are numbered without gaps"
                    blocks.append({**block})
                    pieces.append("")
                case {"type": "content_block_delta", "index": index, "delta": delta}:
                    assert index == len(blocks) - 1, "one block is open at a time"
                    pieces[index] += delta.get("text", "") + delta.get("partial_json", "")
                case {"type": "message_delta", "delta": delta}:
                    reason = delta["stop_reason"]
                    usage |= event["usage"]
                case {"type": "error"}:
                    raise AssertionError(event)
        assert last == "message_stop" and reason, "the stream ended without its end"
        text = "".join(
            piece for block, piece in zip(blocks, pieces, strict=True) if block["type"] == "text"
        )
        calls = tuple(
            ToolCall(block["id"], block["name"], piece or "{}")
            for block, piece in zip(blocks, pieces, strict=True)
            if block["type"] == "tool_use"
        )
        return self._reply(text, calls, reason, usage)

    def error(self, body: Json) -> str:
        assert set(body) == {"type", "error", "request_id"} and body["type"] == "error", body
        error = body["error"]
        assert set(error) >= {"type", "message"}, body
        assert isinstance(error["type"], str) and isinstance(error["message"], str), body
        return str(error["message"])

    @staticmethod
    def _reply(text: str, calls: tuple[ToolCall, ...], reason: str, usage: Json) -> Reply:
        finish = {
            "end_turn": "end",
            "stop_sequence": "end",
            "max_tokens": "length",
            "tool_use": "calls",
        }
        cached = usage["cache_read_input_tokens"]
        return Reply(
            text=text,
            finish=finish[reason],
            prompt=usage["input_tokens"] + usage["cache_creation_input_tokens"] + cached,
            cached=cached,
            output=usage["output_tokens"],
            calls=calls,
        )
