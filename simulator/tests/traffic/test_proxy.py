"""The recording proxy: everything passes, at once, and what is written can be played again."""

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from halogen_simulator.traffic.generator import Plan
from halogen_simulator.traffic.proxy import Recorder, proxy
from halogen_simulator.traffic.recording import load
from tests.serving.test_command import COMMAND, ENVIRONMENT
from tests.traffic.simulators import listening, made, play, simulator

PATHS = [Path(__file__).parents[3] / part for part in ("reference", "simulator", "conformance")]
BODY: dict[str, Any] = {
    "model": "m",
    "max_tokens": 16,
    "messages": [{"role": "user", "content": "What is fog?"}],
}


@contextmanager
def recorded(to: str, path: Path) -> Iterator[httpx.Client]:
    """A client whose requests go through a proxy that records them."""
    with (
        path.open("w") as file,
        listening(proxy(to, Recorder(file, b"salt"))) as url,
        httpx.Client(base_url=url, timeout=30, trust_env=False) as http,
    ):
        yield http


def test_recorded_traffic_plays_as_the_first_time(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    plan = Plan(sessions=2, turns=4, seed=5, keys=2, words=6)
    with simulator() as server, recorded(str(server.base_url), path) as through:
        before, wrong = play(made(plan), through)
        assert not wrong
    with simulator() as server:
        after, wrong = play(load(str(path)), server)
        assert not wrong
    outcomes = [
        Counter((played.kind.name, played.outcome) for played in run) for run in (before, after)
    ]
    assert outcomes[0] == outcomes[1]
    # What came of each is written down, too, and is what the client saw.
    written = Counter(record.answer["outcome"] or "-" for record in load(str(path)))
    assert written == Counter(played.outcome for played in before)


def test_a_stream_passes_as_it_comes(tmp_path: Path) -> None:
    """The server stops in the middle: what it said until then is there already."""
    path = tmp_path / "traffic.jsonl"
    with (
        simulator(script=[{"say": "one two three four", "hang_after": 2}]) as server,
        recorded(str(server.base_url), path) as through,
    ):
        body = {**BODY, "stream": True}
        with through.stream("POST", "/v1/messages", json=body) as got:
            assert got.headers["content-type"].startswith("text/event-stream")
            lines = got.iter_lines()
            assert any("text_delta" in line for line in lines)
            assert _running(server) == 1
        # The client has left: so has the proxy, and the server stops.
        _until(lambda: _running(server) == 0)
    (record,) = load(str(path))
    assert record.answer["status"] == 200 and record.body["stream"] is True


def test_a_reply_is_known_before_its_connection_ends(tmp_path: Path) -> None:
    """A client may send its next request as soon as it has seen the last event."""
    again = asyncio.Event()
    said = {"role": "assistant", "content": "I look."}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": said["content"]},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]

    async def stream() -> AsyncIterator[str]:
        for event in events:
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        await again.wait()

    async def answer(request: Request) -> Response:
        if said not in (await request.json())["messages"]:
            return StreamingResponse(stream(), media_type="text/event-stream")
        again.set()
        return Response(status_code=200)

    app = Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])
    path = tmp_path / "traffic.jsonl"
    with (
        listening(app) as url,
        recorded(url, path) as through,
        through.stream("POST", "/v1/messages", json=BODY) as got,
    ):
        assert any("message_stop" in line for line in got.iter_lines())
        messages = [*BODY["messages"], said, *BODY["messages"]]
        through.post("/v1/messages", json={**BODY, "messages": messages})
    _, second = load(str(path))
    assert second.messages[1]["content"].startswith("reply-1: ")


def test_what_passes_is_what_was_sent(tmp_path: Path) -> None:
    async def echo(request: Request) -> Response:
        seen = {
            "method": request.method,
            "path": request.url.path,
            "query": request.url.query,
            "headers": dict(request.headers),
            "body": (await request.body()).decode(),
        }
        headers = {"x-own": "a", "content-type": "application/x-odd"}
        return Response(json.dumps(seen), 418, headers)

    app = Starlette(routes=[Route("/{any:path}", echo, methods=["PUT"])])
    with listening(app) as url, recorded(url, tmp_path / "traffic.jsonl") as through:
        got = through.put("/a%20b?c=d&c=e", content="not json", headers={"x-odd": "1", "te": "x"})
    seen = got.json()
    assert got.status_code == 418 and got.headers["x-own"] == "a"
    assert got.headers["content-type"] == "application/x-odd"
    assert (seen["method"], seen["path"], seen["query"]) == ("PUT", "/a b", "c=d&c=e")
    assert seen["body"] == "not json" and seen["headers"]["x-odd"] == "1"
    assert seen["headers"]["host"] == url.removeprefix("http://") and "te" not in seen["headers"]
    (record,) = load(str(tmp_path / "traffic.jsonl"))
    assert record.body is None and record.answer["status"] == 418


def test_a_server_that_is_gone(tmp_path: Path, unused_tcp_port: int) -> None:
    to = f"http://127.0.0.1:{unused_tcp_port}"
    with recorded(to, tmp_path / "traffic.jsonl") as through:
        got = through.post("/v1/messages", json=BODY)
    assert got.status_code == 502 and got.text.startswith(f"no answer from {to}")


def test_as_a_command(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    secret = "hunter2-sesame-9917"
    with simulator() as server:
        process = subprocess.Popen(
            [*COMMAND, "record", "--listen", "0", "--to", str(server.base_url), str(path)],
            env=_environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.match(r"halogen-simulator: recording on (http://127\.0\.0\.1:\d+),", line)
            assert found, line
            body = {**BODY, "messages": [{"role": "user", "content": secret}]}
            got = httpx.post(
                f"{found[1]}/v1/messages", json=body, headers={"x-api-key": secret}, trust_env=False
            )
            assert got.status_code == 200 and got.json()["content"][0]["text"]
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            process.stdout.close()
            assert process.wait(20) == 0
    assert rest == f"halogen-simulator: 1 request is in {path}\n"
    assert secret not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (record,) = load(str(path))
    assert record.answer["content"]


def test_what_it_refuses(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("somebody's")
    new = str(tmp_path / "new.jsonl")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments, complaint in (
            (["--listen", "0", "--to", "http://127.0.0.1:1", str(there)], "cannot write"),
            (["--listen", "0", "--to", "ftp://somewhere", new], "is not an http"),
            (["--listen", port, "--to", "http://127.0.0.1:1", new], "cannot listen on port"),
        ):
            # A process of its own: what is not refused would serve for ever.
            done = subprocess.run(
                [*COMMAND, "record", *arguments],
                env=_environment(),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 2
            assert complaint in done.stderr and done.stderr.count("\n") == 1
    assert there.read_text() == "somebody's" and not os.path.exists(new)


def _running(server: httpx.Client) -> int:
    return int(server.get("/simulator/state").json()["pool"]["running"])


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def _environment() -> dict[str, str]:
    return {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(map(str, PATHS))}
