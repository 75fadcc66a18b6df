"""Chat Completions through the official ``openai`` library."""

from openai import omit
from openai.types import CompletionUsage
from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCallParam,
    ChatCompletionMessageParam,
)

from demo.clients import MODEL, openai_client
from demo.hearing import Hearing
from demo.route import Answer, Ask, Call, Tool, Turn


class Chat:
    """See :class:`demo.route.Route`."""

    name = "chat"

    def ask(self, url: str, ask: Ask) -> Answer:
        goes_on = {"continue_final_message": True, "add_generation_prompt": False}
        with openai_client(url) as client:
            create = client.chat.completions.with_raw_response.create
            hearing, usage = Hearing(), None
            raw = create(
                model=MODEL,
                messages=[_message(turn) for turn in ask.turns],
                max_tokens=ask.max_tokens,
                temperature=0,
                tools=omit if ask.tool is None else [_tool(ask.tool)],
                tool_choice="required" if ask.must_call else omit,
                stream=True,
                stream_options={"include_usage": True},
                extra_headers=ask.headers,
                extra_body=goes_on if ask.partial else None,
            )
            for chunk in raw.parse():
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    hearing.text(choice.delta.content or "")
                    for call in choice.delta.tool_calls or ():
                        if call.id and call.function and call.function.name:
                            hearing.call(call.id, call.function.name)
                        hearing.arguments((call.function and call.function.arguments) or "")
            return hearing.answer(raw.headers, _counts(usage))


def _counts(usage: CompletionUsage | None) -> tuple[int, int | None, int] | None:
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    cached = None if details is None else details.cached_tokens
    return usage.prompt_tokens, cached, usage.completion_tokens


def _message(turn: Turn) -> ChatCompletionMessageParam:
    match turn.role, turn.call:
        case "system", _:
            return {"role": "system", "content": turn.text}
        case "assistant", None:
            return {"role": "assistant", "content": turn.text}
        case "assistant", Call(name, arguments, id):
            made: ChatCompletionMessageFunctionToolCallParam = {
                "type": "function",
                "id": id,
                "function": {"name": name, "arguments": arguments},
            }
            return {"role": "assistant", "content": turn.text or None, "tool_calls": [made]}
        case "tool", Call() as call:
            return {"role": "tool", "tool_call_id": call.id, "content": turn.text}
        case _:
            return {"role": "user", "content": turn.text}


def _tool(tool: Tool) -> ChatCompletionFunctionToolParam:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }
