"""Building Messages bodies for the tests of that route."""

from typing import Any

from halogen_reference.dialects.messages import MessagesRequest
from halogen_reference.errors import RequestError
from tests.dialects import requests
from tests.dialects.requests import Body

PATH = "/v1/messages"
ASK = {"role": "user", "content": "hi"}
LOOK = {"name": "look", "input_schema": {"type": "object"}}
STOP = {"name": "stop", "description": "End.", "input_schema": {}}


def body(messages: list[Any] | None = None, **fields: Any) -> Body:
    asked = [ASK] if messages is None else messages
    return {"model": "m", "max_tokens": 9, "messages": asked, **fields}


def read(messages: list[Any] | None = None, **fields: Any) -> MessagesRequest:
    request = requests.parse(PATH, body(messages, **fields))
    assert isinstance(request, MessagesRequest)
    return request


def refused(messages: list[Any] | None = None, **fields: Any) -> RequestError:
    return requests.refused(PATH, body(messages, **fields))


def user(*content: Any) -> Body:
    return {"role": "user", "content": list(content)}


def assistant(*content: Any) -> Body:
    return {"role": "assistant", "content": list(content)}


def text(words: str, **marks: Any) -> Body:
    return {"type": "text", "text": words, **marks}


def tool_use(arguments: Any, call_id: Any = "toolu_1", **marks: Any) -> Body:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": arguments, **marks}


def tool_result(content: Any, **fields: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **fields}
