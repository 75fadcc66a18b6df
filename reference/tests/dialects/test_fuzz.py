"""Any body is a call or a refusal; nothing else ever comes out of a dialect.

Bodies are good ones with a few values replaced, moved or left out: that reaches every check, where
random JSON would stop at the first.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant
from halogen_reference.dialects import DIALECTS, Request
from halogen_reference.errors import RequestError
from tests.dialects.bodies import RICH
from tests.dialects.samples import json_values

WORDS = st.sampled_from(
    [
        "user", "assistant", "system", "developer", "tool", "function", "text", "auto", "none",
        "required", "any", "allowed_tools", "image", "refusal", "thinking", "tool_use", "m", "",
        "tool_result", "message", "reasoning", "item_reference", "enabled", "call_", "[", "\x00",
    ]
)  # fmt: skip
Key = str | int
Place = tuple[Key, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a JSON value, the top left out."""
    if at:
        yield at
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from places(child, (*at, key))


def look_up(value: Any, at: Place) -> Any:
    for key in at:
        value = value[key]
    return value


@st.composite
def mutated(draw: st.DrawFn, body: Any) -> Any:
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(0, 3))):
        everywhere = list(places(body))
        if not everywhere:
            return body
        *above, key = draw(st.sampled_from(everywhere))
        parent = look_up(body, tuple(above))
        match draw(st.sampled_from(["word", "value", "move", "delete"])):
            case "word":
                parent[key] = draw(WORDS)
            case "value":
                parent[key] = draw(json_values)
            case "move":
                source = draw(st.sampled_from(everywhere))
                parent[key] = copy.deepcopy(look_up(body, source))
            case _:
                del parent[key]
    return body


@pytest.mark.parametrize("path", RICH)
@given(data=st.data())
def test_any_body_is_a_call_or_a_refusal(path: str, data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(RICH[path]).flatmap(mutated) | json_values)
    outcome = call_or_status(path, json.dumps(body).encode())
    if isinstance(outcome, Call):
        check(outcome)
    else:
        assert 400 <= outcome < 500


def call_or_status(path: str, body: bytes) -> Call | int:
    try:
        request: Request = DIALECTS[path].parse(body)
    except RequestError as problem:
        return problem.status
    return request.call


def check(call: Call) -> None:
    """What the rest of the server may rely on."""
    assert call.conversation.items
    hash(call.conversation)
    if call.opening is Opening.CONTINUE:
        last = call.conversation.items[-1]
        assert isinstance(last, Assistant)
        assert last.text and not last.calls
    assert all(call.stop)


@pytest.mark.parametrize("path", RICH)
def test_the_rich_bodies_are_good_ones(path: str) -> None:
    """Otherwise the mutations above would test the first check only."""
    for body in RICH[path]:
        DIALECTS[path].parse(json.dumps(body).encode())


@pytest.mark.parametrize("path", RICH)
@given(body=st.binary(max_size=100))
def test_any_bytes_are_a_400(path: str, body: bytes) -> None:
    with pytest.raises(RequestError) as caught:
        DIALECTS[path].parse(body)
    assert caught.value.status == 400
