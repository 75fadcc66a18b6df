"""A whole Chat Completions answer."""

from collections.abc import Iterable, Sequence

from halogen_reference.dialects.chat import parts
from halogen_reference.dialects.chat.request import ChatRequest
from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.fold import CallPart, Folded, fold
from halogen_reference.reply import ReplyEvent


def reply(request: ChatRequest, choices: Sequence[Iterable[ReplyEvent]]) -> JsonObject:
    """The answer's body, from each choice's whole run of events."""
    folded = [fold(events) for events in choices]
    return {
        "id": request.id,
        "object": "chat.completion",
        "created": request.created,
        "model": request.call.model,
        "choices": [_choice(request, index, whole) for index, whole in enumerate(folded)],
        "usage": parts.usage([whole.usage for whole in folded]),
    }


def _choice(request: ChatRequest, index: int, whole: Folded) -> JsonObject:
    wants_logprobs = request.call.sampling.logprobs is not None
    return {
        "index": index,
        "message": _message(request, whole),
        "logprobs": parts.logprobs(whole.logprobs) if wants_logprobs else None,
        "finish_reason": parts.FINISH_REASONS[whole.finish],
    }


def _message(request: ChatRequest, whole: Folded) -> JsonObject:
    text = request.echo + whole.text
    message: JsonObject = {
        "role": "assistant",
        "content": text if text or not whole.calls else None,
        "refusal": None,
    }
    if whole.reasoning and request.show_reasoning:
        message["reasoning_content"] = whole.reasoning
    if whole.calls:  # an empty list confuses clients
        message["tool_calls"] = [_call(call) for call in whole.calls]
    return message


def _call(call: CallPart) -> JsonObject:
    return {
        "id": f"call_{call.id}",
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
