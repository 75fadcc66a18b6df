"""Responses through the official ``openai`` library."""

from collections.abc import Iterator

from openai import omit
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam

from demo.clients import MODEL, openai_client
from demo.hearing import Hearing
from demo.route import Answer, Ask, Tool, Turn, Unanswered


class Responses:
    """See :class:`demo.route.Route`. A reply that is to go on needs no flag here: the last item
    being the assistant's says it."""

    name = "responses"

    def ask(self, url: str, ask: Ask) -> Answer:
        instructions = "\n".join(turn.text for turn in ask.turns if turn.role == "system")
        with openai_client(url) as client:
            create = client.responses.with_raw_response.create
            hearing, done = Hearing(), None
            raw = create(
                model=MODEL,
                instructions=instructions or omit,
                input=[item for turn in ask.turns for item in _items(turn)],
                max_output_tokens=ask.max_tokens,
                temperature=0,
                tools=omit if ask.tool is None else [_tool(ask.tool)],
                tool_choice="required" if ask.must_call else omit,
                stream=True,
                extra_headers=ask.headers,
            )
            for event in raw.parse():
                if event.type == "response.output_text.delta":
                    hearing.text(event.delta)
                elif event.type == "response.output_item.added":
                    if event.item.type == "function_call":
                        hearing.call(event.item.call_id, event.item.name)
                elif event.type == "response.function_call_arguments.delta":
                    hearing.arguments(event.delta)
                elif event.type == "response.failed":
                    error = event.response.error
                    raise Unanswered(error.message if error else "the response failed")
                elif event.type in ("response.completed", "response.incomplete"):
                    done = event.response
            return hearing.answer(raw.headers, _counts(done))


def _counts(done: Response | None) -> tuple[int, int | None, int] | None:
    if done is None or done.usage is None:
        return None
    usage = done.usage
    return usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens


def _items(turn: Turn) -> Iterator[ResponseInputItemParam]:
    """A turn as input items: a call is an item of its own."""
    call = turn.call
    if turn.role == "tool" and call is not None:
        yield {"type": "function_call_output", "call_id": call.id, "output": turn.text}
    elif turn.role == "user":
        yield {"role": "user", "content": turn.text}
    elif turn.role == "assistant":
        if turn.text or call is None:
            yield {"role": "assistant", "content": turn.text}
        if call is not None:
            yield {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }


def _tool(tool: Tool) -> FunctionToolParam:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }
