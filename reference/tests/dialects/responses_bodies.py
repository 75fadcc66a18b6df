"""Building Responses bodies for the tests of that route."""

from typing import Any

from halogen_reference.dialects.responses import ResponsesRequest
from halogen_reference.errors import RequestError
from tests.dialects import requests
from tests.dialects.requests import Body

PATH = "/v1/responses"
ASK = {"role": "user", "content": "hi"}
LOOK = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}
STOP = {"type": "function", "name": "stop", "description": "End."}
AGENTS = {"type": "namespace", "name": "agents", "tools": [LOOK, {"type": "custom", "name": "x"}]}


def body(items: Any = None, **fields: Any) -> Body:
    return {"model": "m", "input": [ASK] if items is None else items, **fields}


def read(items: Any = None, **fields: Any) -> ResponsesRequest:
    request = requests.parse(PATH, body(items, **fields))
    assert isinstance(request, ResponsesRequest)
    return request


def refused(items: Any = None, **fields: Any) -> RequestError:
    return requests.refused(PATH, body(items, **fields))


def said(content: Any, **fields: Any) -> Body:
    return {"type": "message", "role": "assistant", "content": content, **fields}


def output_text(words: str) -> Body:
    return {"type": "output_text", "text": words, "annotations": []}


def called(arguments: Any = "{}", call_id: Any = "call_1", **fields: Any) -> Body:
    call = {"type": "function_call", "call_id": call_id, "name": "look", "arguments": arguments}
    return {**call, **fields}


def output(content: Any, call_id: str = "call_1") -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def thought(words: str, summary: str = "") -> Body:
    content = [{"type": "reasoning_text", "text": words}] if words else []
    summaries = [{"type": "summary_text", "text": summary}] if summary else []
    item = {"type": "reasoning", "id": "rs_1", "summary": summaries, "content": content}
    return {**item, "encrypted_content": None}
