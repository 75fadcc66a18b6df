"""Messages through the official ``anthropic`` library."""

import json

from anthropic import omit
from anthropic.types import (
    MessageDeltaUsage,
    MessageParam,
    TextBlockParam,
    ToolParam,
    ToolResultBlockParam,
    ToolUseBlockParam,
    Usage,
)

from demo.clients import MODEL, anthropic_client
from demo.hearing import Hearing
from demo.route import Answer, Ask, Call, Tool, Turn


class Messages:
    """See :class:`demo.route.Route`. A reply that is to go on needs no flag here: the last message
    being the assistant's says it."""

    name = "messages"

    def ask(self, url: str, ask: Ask) -> Answer:
        system = "\n".join(turn.text for turn in ask.turns if turn.role == "system")
        with anthropic_client(url) as client:
            create = client.messages.with_raw_response.create
            hearing, begun, ended = Hearing(), None, None
            raw = create(
                model=MODEL,
                system=system or omit,
                messages=[_message(turn) for turn in ask.turns if turn.role != "system"],
                max_tokens=ask.max_tokens,
                tools=omit if ask.tool is None else [_tool(ask.tool)],
                tool_choice={"type": "any"} if ask.must_call else omit,
                stream=True,
                extra_headers=ask.headers,
                # The library has no parameter for it any more.
                extra_body={"temperature": 0},
            )
            for event in raw.parse():
                if event.type == "message_start":
                    begun = event.message.usage
                elif event.type == "message_delta":
                    ended = event.usage
                elif event.type == "content_block_start":
                    if event.content_block.type == "tool_use":
                        hearing.call(event.content_block.id, event.content_block.name)
                elif event.type == "content_block_delta":
                    if event.delta.type == "text_delta":
                        hearing.text(event.delta.text)
                    elif event.delta.type == "input_json_delta":
                        hearing.arguments(event.delta.partial_json)
            return hearing.answer(raw.headers, _counts(begun, ended))


def _counts(
    begun: Usage | None, ended: MessageDeltaUsage | None
) -> tuple[int, int | None, int] | None:
    """The last event's figures replace the first one's. Cached tokens are counted apart from the
    others in this API."""
    if begun is None or ended is None:
        return None
    prompt = begun.input_tokens if ended.input_tokens is None else ended.input_tokens
    read, written = begun.cache_read_input_tokens or 0, begun.cache_creation_input_tokens or 0
    if ended.cache_read_input_tokens is not None:
        read = ended.cache_read_input_tokens
    return prompt + read + written, read, ended.output_tokens


def _message(turn: Turn) -> MessageParam:
    match turn.role, turn.call:
        case "assistant", None:
            return {"role": "assistant", "content": turn.text}
        case "assistant", Call(name, arguments, id):
            made = json.loads(arguments or "{}")
            use: ToolUseBlockParam = {"type": "tool_use", "id": id, "name": name, "input": made}
            text: list[TextBlockParam] = [{"type": "text", "text": turn.text}] if turn.text else []
            return {"role": "assistant", "content": [*text, use]}
        case "tool", Call(id=id):
            result: ToolResultBlockParam = {
                "type": "tool_result",
                "tool_use_id": id,
                "content": turn.text,
            }
            return {"role": "user", "content": [result]}
        case _:
            return {"role": "user", "content": turn.text}


def _tool(tool: Tool) -> ToolParam:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {"type": "object", **tool.parameters},
    }
