"""Output items of Responses, and the response object around them."""

import time
from collections.abc import Sequence

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.responses.namespaces import client_name
from halogen_reference.dialects.responses.request import ResponsesRequest
from halogen_reference.reply import Finish, Usage


def status_of(finish: Finish) -> str:
    """This route's answer to why a reply ended; it has no stop strings to tell apart."""
    return "incomplete" if finish is Finish.LENGTH else "completed"


def message(item_id: str, status: str, content: Sequence[JsonObject]) -> JsonObject:
    """A ``message`` output item of ``output_text`` parts."""
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": status,
        "content": list(content),
    }


def output_text(text: str, logprobs: Sequence[JsonObject]) -> JsonObject:
    """An ``output_text`` part, with the log probabilities of its tokens."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}


def reasoning(item_id: str, status: str, content: Sequence[JsonObject]) -> JsonObject:
    """A ``reasoning`` output item; its summary is empty, the text is its content."""
    return {
        "type": "reasoning",
        "id": item_id,
        "summary": [],
        "content": list(content),
        "status": status,
    }


def reasoning_text(text: str, logprobs: Sequence[JsonObject] = ()) -> JsonObject:
    """Reasoning has no log probabilities on this route."""
    return {"type": "reasoning_text", "text": text}


def function_call(
    request: ResponsesRequest, call_id: str, name: str, arguments: str, status: str
) -> JsonObject:
    """The item's own id and the call's are two: clients send the second one back."""
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": f"call_{call_id}",
        **client_name(name, request.namespaces),
        "arguments": arguments,
        "status": status,
    }


def response(
    request: ResponsesRequest,
    status: str,
    output: Sequence[JsonObject] = (),
    usage: Usage | None = None,
    failure: str | None = None,
) -> JsonObject:
    """The response object. ``failure`` is the message of a reply that broke off."""
    return {
        "id": request.id,
        "object": "response",
        "created_at": request.created_at,
        "completed_at": int(time.time()) if status == "completed" else None,
        "status": status,
        "background": False,
        "error": {"code": "server_error", "message": failure} if failure is not None else None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        **request.settings,
        "model": request.call.model,
        "output": list(output),
        "previous_response_id": None,
        "store": False,
        "truncation": "disabled",
        "usage": None if usage is None else _usage(usage),
    }


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.output,
    }
