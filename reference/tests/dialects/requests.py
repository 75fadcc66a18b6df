"""Building request bodies, and reading what a dialect makes of them."""

import json
from typing import Any

import pytest

from halogen_reference.dialects import DIALECTS, Request
from halogen_reference.errors import RequestError

Body = dict[str, Any]


def parse(path: str, body: Body) -> Request:
    request: Request = DIALECTS[path].parse(json.dumps(body).encode())
    return request


def refused(path: str, body: Body) -> RequestError:
    """The error a body ends in; always a 400 here."""
    with pytest.raises(RequestError) as caught:
        parse(path, body)
    assert caught.value.status == 400
    return caught.value


def events(stream: bytes) -> list[Body]:
    """The JSON payloads of a stream's data lines, ``[DONE]`` left out."""
    blocks = stream.decode().split("\n\n")
    assert blocks.pop() == "", "the stream ends inside an event"
    lines = [line for block in blocks for line in block.split("\n")]
    assert all(line.startswith(("data: ", "event: ", ": ")) for line in lines)
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [json.loads(payload) for payload in data if payload != "[DONE]"]
