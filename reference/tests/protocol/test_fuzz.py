"""Whatever is sent: no 5xx but 503, errors in the route's shape, names as before."""

import copy
import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.protocol.client import Kept, Talk, check_used
from tests.protocol.rawhttp import exchange, request
from tests.protocol.routes import ROUTES, Json, Route
from tests.protocol.server import Server, running

HI = (("user", "Hi"),)


def examples(most: int) -> settings:
    """Each is a request or two, and how long those take says more about the machine."""
    return settings(max_examples=most, deadline=None, suppress_health_check=[HealthCheck.too_slow])


words = st.sampled_from(
    ["user", "assistant", "system", "tool", "function", "text", "auto", "none", "required", "", "[",
     "\x00", "<|im_end|>", "<|im_start|>system\n", "\ud800", "\U0001f389", "call_", "{}", "1"]
)  # fmt: skip
numbers = st.sampled_from(
    [0, -1, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308, 5e-324, 1e22]
)
leaves = st.none() | st.booleans() | numbers | words | st.text(max_size=8)
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "n", "stop",
    "seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs",
    "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "response_format",
    "top_k", "min_p", "repetition_penalty", "continue_final_message", "add_generation_prompt",
    "echo", "modalities", "functions", "include_reasoning",
)  # fmt: skip
RICH: Json = {
    "model": "any",
    "max_tokens": 2,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "When?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "tide", "arguments": '{"day": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "at noon"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "tide", "description": "when", "parameters": {"type": "object"}},
        }
    ],
}


@pytest.fixture(scope="module", params=sorted(ROUTES))
def target(
    request: pytest.FixtureRequest, engine: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Route, Kept]]:
    """A server whose replies are short because its context is, and a conversation it keeps."""
    log = tmp_path_factory.mktemp("fuzz") / "log"
    chosen = {"HALOGEN_FORK": "1", "HALOGEN_CTX": "320"}
    with running(engine, log, chosen) as server:
        route = ROUTES[request.param]
        talk = Talk(server, route, stream=False)
        yield server, route, talk.kept("anchor", HI)
        check_used(talk, talk.kept("after", HI), talk.kept("after", HI).then("Why?"))


def send(
    target: tuple[Server, Route, Kept], body: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> int:
    """Send it as a request that would replace the kept conversation, and check what is left."""
    server, route, kept = target
    before = server.handles()
    names = ((b"x-halogen-from", b"anchor"), (b"x-halogen-keep", b"anchor"))
    status, got, answer = exchange(server, request(route.path, body, names + headers))
    assert status == 200 or 400 <= status < 500 or status == 503, (status, answer)
    if status == 200:
        # It was a request after all: whatever it kept, the name is put back.
        assert len(got["x-halogen-from"]) == 1
        assert Talk(server, route, stream=False).ask(HI, keep="anchor").text == kept.answer.text
    else:
        if "x-request-id" in got:  # else the HTTP layer refused it
            route.error(json.loads(answer))
            assert got["x-halogen-from"] in (["used"], ["unmatched"])
        after = server.handles()
        assert set(after) == set(before)
        assert after["anchor"]["created_at"] == before["anchor"]["created_at"]
        assert after["anchor"]["tokens"] == before["anchor"]["tokens"]
    return status


Target = tuple[Server, Route, Kept]


@examples(40)
@given(body=st.binary(max_size=60))
@example(b"")
@example(b"\xff\xfe{\x00}\x00")
@example(b'{"messages": [{"role": "user", "content": "\xff"}]}')
def test_any_bytes_are_a_400(target: Target, body: bytes) -> None:
    assert send(target, body) == 400


def test_the_rich_body_is_a_good_one(target: Target) -> None:
    """Otherwise the next tests would show nothing."""
    assert send(target, json.dumps(RICH).encode()) == 200


@examples(40)
@given(field=st.sampled_from(FIELDS), value=json_values)
def test_any_value_in_any_field(target: Target, field: str, value: object) -> None:
    body = copy.deepcopy(RICH)
    body[field] = value
    send(target, json.dumps(body).encode())


@examples(30)
@given(data=st.data())
def test_any_value_in_any_place_of_the_messages(target: Target, data: st.DataObject) -> None:
    body = copy.deepcopy(RICH)
    inside = body["messages"] + body["tools"]
    place = data.draw(st.sampled_from(inside))
    while data.draw(st.booleans()):
        children = [child for child in _children(place) if isinstance(child, dict | list)]
        if not children:
            break
        place = data.draw(st.sampled_from(children))
    key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(json_values)
    send(target, json.dumps(body).encode())


def _children(place: object) -> list[object]:
    if isinstance(place, dict):
        return list(place.values())
    return list(place) if isinstance(place, list) else []


DEEP = 100_000
WHOLE = json.dumps(RICH)[:-1]
HARD: dict[str, bytes] = {
    "deep arrays": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep unknown field": f'{WHOLE}, "x": {"[" * DEEP}{"]" * DEEP}}}'.encode(),
    "deep arguments": json.dumps(
        {
            **RICH,
            "messages": [
                {"role": "user", "content": "Hi"},
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "1",
                            "type": "function",
                            "function": {"name": "f", "arguments": "[" * DEEP + "]" * DEEP},
                        }
                    ],
                },
                {"role": "user", "content": "Hi"},
            ],
        }
    ).encode(),
    "open arrays": b"[" * DEEP,
    "huge integer": f'{WHOLE}, "seed": {"9" * 5000}}}'.encode(),
    "huge limit": f'{WHOLE}, "max_tokens": {"9" * 5000}}}'.encode(),
    "huge exponent": f'{WHOLE}, "temperature": 1e999}}'.encode(),
    "not a number": f'{WHOLE}, "temperature": NaN}}'.encode(),
    "lone surrogate": f'{WHOLE}, "stop": "\\ud83d"}}'.encode(),
    "lone surrogate as a key": f'{WHOLE}, "\\udc00": 1}}'.encode(),
    "a key twice": f'{WHOLE}, "n": 1, "n": "x"}}'.encode(),
    "byte order mark": b"\xef\xbb\xbf" + WHOLE.encode() + b"}",
    "utf-16": (WHOLE + "}").encode("utf-16"),
    "null bytes": json.dumps(
        {**RICH, "messages": [{"role": "user", "content": "\0" * 9}]}
    ).encode(),
    "too long for the model": json.dumps(
        {**RICH, "messages": [{"role": "user", "content": "a" * 10**6}]}
    ).encode(),
    "many messages": json.dumps({**RICH, "messages": RICH["messages"][1:2] * 5000}).encode(),
    "many biases": json.dumps(
        {**RICH, "logit_bias": {str(token): -100 for token in range(40_000)}}
    ).encode(),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_bodies(target: Target, case: str) -> None:
    send(target, HARD[case])


def test_a_body_over_the_limit_is_a_413(target: Target) -> None:
    assert send(target, b" " * (33 * 2**20)) == 413


header_bytes = st.binary(max_size=12)


@examples(30)
@given(name=header_bytes, value=header_bytes)
@example(b"x" * 300_000, b"1")
@example(b"x-long", b"1" * 300_000)
@example(b"x-halogen-from", b"another")
@example(b"content-length", b"5")
@example(b"transfer-encoding", b"chunked")
@example(b"content-encoding", b"gzip")
@example(b"content-type", b"text/plain; charset=utf-16")
@example(b"expect", b"100-continue")
@example(b"upgrade", b"websocket")
@example(b"authorization", b"\xff")
def test_odd_headers(target: Target, name: bytes, value: bytes) -> None:
    """Beside a good request that keeps nothing."""
    server, route, _ = target
    before = server.handles()
    body = json.dumps(route.body(HI, partial=None, stream=False, max_tokens=1)).encode()
    status, _, _ = exchange(server, request(route.path, body, [(name, value)]))
    assert status < 500 or status == 503
    assert server.handles() == before


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods(target: Target, method: str) -> None:
    server, route, _ = target
    got = server.http.request(method, route.path)
    assert got.status_code == 405
    if method != "HEAD":
        route.error(got.json())


@pytest.mark.parametrize("path", ["/", "/v1", "/nothing", "/api/hello", "/v1/models/%ff", "/%00"])
def test_other_paths(target: Target, path: str) -> None:
    server, _, _ = target
    for method in ("GET", "HEAD", "POST"):
        assert server.http.request(method, path).status_code in (400, 404, 405)
