"""Whatever is sent: no 5xx but busy, errors in the route's shape, names as before."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.protocol.client import Kept, Talk, check_used
from tests.protocol.fuzz_bodies import FIELDS, HARD, Field, hard
from tests.protocol.rawhttp import exchange, request
from tests.protocol.server import Server, running
from tests.protocol.storm import BUSY

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


@dataclass(frozen=True, repr=False)
class Target:
    """Whom the bodies are sent to, and a conversation it keeps."""

    server: Server
    field: Field
    kept: Kept


@pytest.fixture(scope="module", params=sorted(FIELDS))
def target(
    request: pytest.FixtureRequest, engine: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """A server whose replies are short because its context is, and a conversation it keeps."""
    log = tmp_path_factory.mktemp("fuzz") / "log"
    chosen = {"HALOGEN_FORK": "1", "HALOGEN_CTX": "320"}
    with running(engine, log, chosen) as server:
        field = FIELDS[request.param]
        talk = Talk(server, field.route, stream=False)
        yield Target(server, field, talk.kept("anchor", HI))
        check_used(talk, talk.kept("after", HI), talk.kept("after", HI).then("Why?"))


def send(target: Target, body: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()) -> int:
    """Send it as a request that would replace the kept conversation, and check what is left."""
    server, field, kept = target.server, target.field, target.kept
    before = server.handles()
    names = ((b"x-halogen-from", b"anchor"), (b"x-halogen-keep", b"anchor"))
    status, got, answer = exchange(server, request(field.path, body, names + headers))
    assert status in (200, *BUSY) or 400 <= status < 500, (status, answer)
    if status == 200 and field.keeps:
        # It was a request after all: whatever it kept, the name is put back.
        assert len(got["x-halogen-from"]) == 1
        assert (
            Talk(server, field.route, stream=False).ask(HI, keep="anchor").text == kept.answer.text
        )
        return status
    if status != 200 and "x-request-id" in got:  # else the HTTP layer refused it
        field.route.error(json.loads(answer))
        assert not field.keeps or got["x-halogen-from"] in (["used"], ["unmatched"])
    after = server.handles()
    assert set(after) == set(before)
    assert after["anchor"]["created_at"] == before["anchor"]["created_at"]
    assert after["anchor"]["tokens"] == before["anchor"]["tokens"]
    return status


@examples(40)
@given(body=st.binary(max_size=60))
@example(b"")
@example(b"\xff\xfe{\x00}\x00")
@example(b'{"messages": [{"role": "user", "content": "\xff"}]}')
def test_any_bytes_are_a_400(target: Target, body: bytes) -> None:
    assert send(target, body) == 400


def test_the_rich_body_is_a_good_one(target: Target) -> None:
    """Otherwise the next tests would show nothing."""
    assert send(target, json.dumps(target.field.rich).encode()) == 200


@examples(40)
@given(data=st.data(), value=json_values)
def test_any_value_in_any_field(target: Target, data: st.DataObject, value: object) -> None:
    body = copy.deepcopy(target.field.rich)
    body[data.draw(st.sampled_from(target.field.fields))] = value
    send(target, json.dumps(body).encode())


@examples(30)
@given(way=st.lists(st.integers(0, 30), min_size=2, max_size=6), value=json_values)
def test_any_value_in_any_place_of_the_messages(
    target: Target, way: list[int], value: object
) -> None:
    """``way``: which child to go down to at each step; the last one names what is replaced."""
    body = copy.deepcopy(target.field.rich)
    inside = body[target.field.turns] + body["tools"]
    place = inside[way[0] % len(inside)]
    for step in way[1:-1]:
        children = [one for one in _children(place) if one and isinstance(one, dict | list)]
        if not children:
            break
        place = children[step % len(children)]
    keys = list(place) if isinstance(place, dict) else range(len(place))
    place[keys[way[-1] % len(keys)]] = value
    send(target, json.dumps(body).encode())


def _children(place: object) -> list[object]:
    if isinstance(place, dict):
        return list(place.values())
    return list(place) if isinstance(place, list) else []


@pytest.mark.parametrize("case", HARD)
def test_hard_bodies(target: Target, case: str) -> None:
    send(target, hard(case, target.field))


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
    server, field = target.server, target.field
    before = server.handles()
    good = field.route.body(HI, partial=None, stream=False, max_tokens=1)
    sent = request(field.path, json.dumps(good).encode(), [(name, value)])
    status, _, _ = exchange(server, sent)
    assert status < 500 or status in BUSY
    assert server.handles() == before


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods(target: Target, method: str) -> None:
    got = target.server.http.request(method, target.field.path)
    assert got.status_code == 405
    if method != "HEAD":
        target.field.route.error(got.json())


@pytest.mark.parametrize("path", ["/", "/v1", "/nothing", "/api/hello", "/v1/models/%ff", "/%00"])
def test_other_paths(target: Target, path: str) -> None:
    for method in ("GET", "HEAD", "POST"):
        assert target.server.http.request(method, path).status_code in (400, 404, 405)
