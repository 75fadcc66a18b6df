"""Building Chat Completions bodies for the tests of that route."""

from typing import Any

from halogen_reference.dialects.chat import ChatRequest
from halogen_reference.errors import RequestError
from tests.dialects import requests
from tests.dialects.requests import Body

PATH = "/v1/chat/completions"
ASK = {"role": "user", "content": "hi"}
LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
STOP = {"type": "function", "function": {"name": "stop", "description": "End."}}


def read(messages: list[Any] | None = None, **fields: Any) -> ChatRequest:
    request = requests.parse(PATH, body(messages, **fields))
    assert isinstance(request, ChatRequest)
    return request


def refused(messages: list[Any] | None = None, **fields: Any) -> RequestError:
    return requests.refused(PATH, body(messages, **fields))


def body(messages: list[Any] | None = None, **fields: Any) -> Body:
    return {"model": "m", "messages": [ASK] if messages is None else messages, **fields}


def assistant(content: Any, **fields: Any) -> Body:
    return {"role": "assistant", "content": content, **fields}


def tool_call(arguments: str, call_id: str = "call_1") -> Body:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "look", "arguments": arguments},
    }


def parts(*texts: str) -> list[Body]:
    return [{"type": "text", "text": text} for text in texts]
