"""What goes wrong after the reply has begun, or before its turn came: said, and nothing kept."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.protocol.client import Talk, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import COUNTING, ONE_TWO, asking
from tests.protocol.rawhttp import Stream
from tests.protocol.routes import Json, Route
from tests.protocol.scripted import scripted
from tests.protocol.server import Server

PIECES = (0, 1, 5)
SAID = "one two three four five six seven eight nine ten"
LINES: list[Json] = [
    {"when": {"text": f"Fail after {pieces}"}, "say": SAID, "fail_after": pieces}
    for pieces in PIECES
]
BUSY: Json = {"when": {"text": "Be busy"}, "busy": True}
FAILS: dict[str, Any] = {"max_tokens": 60}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with scripted(tmp_path_factory.mktemp("failing"), [*LINES, BUSY]) as server:
        yield server


def error_in_band(route: Route, lines: list[str]) -> Json:
    """The error at the end of a stream, in the route's own form; nothing comes after it."""
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert "[DONE]" not in data, "a failed stream is no success"
    events = [json.loads(text) for text in data]
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    last: Json = events[-1]
    match route.name:
        case "chat":
            assert not names and not any("error" in event for event in events[:-1])
            assert route.error(last)
            return dict(last["error"])
        case "messages":
            assert names == [event["type"] for event in events]
            assert names[-1] == "error" and "message_stop" not in names
            return dict(last["error"])
        case _:
            assert names == [event["type"] for event in events]
            assert [event["sequence_number"] for event in events] == list(range(len(events)))
            # A bare `error` event is not understood by every client, and both are too much.
            assert names[-1] == "response.failed" and "error" not in names
            assert last["response"]["status"] == "failed"
            return dict(last["response"]["error"])


@pytest.mark.parametrize("pieces", PIECES)
def test_keep_4_and_p19_an_error_inside_the_stream(
    failing: Server, route: Route, pieces: int
) -> None:
    """One error event, then the end; the names are as they were."""
    talk = Talk(failing, route, stream=True)
    kept = talk.kept("plan", asking("What is fog?"))
    before = failing.handles()
    on = kept.then(f"Fail after {pieces} pieces.")
    for keep in ("plan", "never"):
        body = route.body(on, partial=None, stream=True, **FAILS)
        with failing.http.stream(
            "POST",
            route.path,
            json=body,
            headers={"x-halogen-from": "plan", "x-halogen-keep": keep},
        ) as got:
            assert got.status_code == 200 and got.headers["x-halogen-from"] == "used"
            error = error_in_band(route, list(got.iter_lines()))
        assert error["message"]
    unlike = ("last_used_at", "expires_at")
    after = failing.handles()
    assert set(after) == set(before)
    for field in set(before["plan"]) - set(unlike):
        assert after["plan"][field] == before["plan"][field]
    check_used(talk, kept, kept.then("Why?"))


@pytest.mark.parametrize("pieces", PIECES)
def test_keep_4_an_error_without_a_stream(failing: Server, route: Route, pieces: int) -> None:
    talk = Talk(failing, route, stream=False)
    kept = talk.kept("plan", asking("What is fog?"))
    for keep in ("plan", "never"):
        answer = talk.ask(kept.then(f"Fail after {pieces}"), start="plan", keep=keep, **FAILS)
        assert answer.status == 500 and answer.outcome == "used"
    assert set(failing.handles()) == {"plan"}
    check_used(talk, kept, kept.then("Why?"))


def test_p19_the_sdks_raise(failing: Server) -> None:
    """Never an empty success."""
    broken = "Fail after 5 pieces."
    with openai.OpenAI(base_url=f"{failing.url}/v1", api_key="k", max_retries=0) as sdk:
        with pytest.raises(openai.APIError):
            for _ in sdk.chat.completions.create(
                model="m", messages=[{"role": "user", "content": broken}], stream=True
            ):
                pass
        kinds = [event.type for event in sdk.responses.create(model="m", input=broken, stream=True)]
        assert kinds[-1] == "response.failed"
        with pytest.raises(openai.InternalServerError):
            sdk.responses.create(model="m", input=broken)
    with (
        anthropic.Anthropic(base_url=failing.url, api_key="k", max_retries=0) as claude,
        pytest.raises(anthropic.APIStatusError),
        claude.messages.stream(
            model="m", max_tokens=60, messages=[{"role": "user", "content": broken}]
        ) as stream,
    ):
        stream.get_final_message()


def check_busy(talk: Talk, question: str) -> None:
    """Refused as busy, in the route's own status, and nothing kept."""
    body = talk.route.body(asking(question), partial=None, stream=talk.stream)
    got = talk.server.http.post(
        talk.route.path, json=body, headers={"x-halogen-keep": "late", "x-halogen-from": "never"}
    )
    assert got.status_code == (529 if talk.route.name == "messages" else 503)
    assert talk.route.error(got.json()) and int(got.headers["retry-after"]) > 0
    assert got.headers.get_list("x-halogen-from") == ["unknown"]
    kinds = {"messages": "overloaded_error"}
    assert got.json()["error"]["type"] == kinds.get(talk.route.name, "server_error")
    assert "late" not in talk.server.handles()


def test_a_full_queue(failing: Server, route: Route, stream: bool) -> None:
    check_busy(Talk(failing, route, stream=stream), "Be busy, please.")


def test_a_place_that_does_not_come_free(
    start_server: StartServer, route: Route, stream: bool
) -> None:
    server = start_server(HALOGEN_KV_SLOTS="1", HALOGEN_QUEUE_TIMEOUT="0.2")
    body = route.body(COUNTING, partial=ONE_TWO, stream=True, max_tokens=1500)
    with Stream(server, route, body) as busy:
        busy.event()
        check_busy(Talk(server, route, stream=stream), "What is fog?")
    server.idle()
    assert Talk(server, route, stream=stream).ask(asking("What is fog?")).text
