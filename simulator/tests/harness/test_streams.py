"""Several tool calls that stream at once: arguments are kept apart by index, on each route."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_simulator.harness.program import Program, Round
from halogen_simulator.harness.record import ToolUse
from halogen_simulator.harness.session import Session
from halogen_simulator.harness.store import Store
from halogen_simulator.harness.tools import Output, built_in
from halogen_simulator.harness.transcript import Transcript

Json = Any
FIRST, SECOND = '{"expression": "6*7"}', '{"text": "one two three"}'
# Halves of the first call's arguments and of the second's, in turns.
PIECES = [(0, FIRST[:9]), (1, SECOND[:5]), (0, FIRST[9:]), (1, SECOND[5:])]
NAMES = ("calculate", "count_words")


def chat(calls: bool) -> Iterator[Json]:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return {**head, "choices": [choice]}

    yield chunk({"role": "assistant", "content": "" if calls else "Done."})
    for index, name in enumerate(NAMES if calls else ()):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
    for index, piece in PIECES if calls else ():
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")


def messages(calls: bool) -> Iterator[Json]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {"type": "message_start", "message": {"id": "m", "model": "m", "usage": usage}}
    for index, name in enumerate(NAMES if calls else ()):
        block: Json = {"type": "tool_use", "id": f"call_{index}", "name": name, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
    for index, piece in PIECES if calls else ():
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    if not calls:
        block = {"type": "text", "text": "Done."}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
    for index in range(2 if calls else 1):
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def responses(calls: bool) -> Iterator[Json]:
    yield {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}
    output: list[Json] = []
    for index, name in enumerate(NAMES if calls else ()):
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}"}
        item |= {"name": name, "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        output.append({**item, "arguments": (FIRST, SECOND)[index], "status": "completed"})
    for index, piece in PIECES if calls else ():
        kind = "response.function_call_arguments.delta"
        yield {"type": kind, "output_index": index, "item_id": f"fc_{index}", "delta": piece}
    for index, item in enumerate(output):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    if not calls:
        content = [{"type": "output_text", "text": "Done.", "annotations": []}]
        output = [{"type": "message", "id": "x", "role": "assistant", "content": content}]
        for kind in ("added", "done"):
            yield {"type": f"response.output_item.{kind}", "output_index": 0, "item": output[0]}
    done = {"id": "r", "object": "response", "status": "completed", "output": output}
    yield {"type": "response.completed", "response": done}


STREAMS = {"chat": chat, "messages": messages, "responses": responses}


def encoded(route: str, events: Sequence[Json]) -> bytes:
    if route == "chat":
        lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
    else:
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode()


@contextmanager
def answering(route: str, *, calling: int = 1) -> Iterator[tuple[str, list[Json]]]:
    """A server that calls both tools in its first so many answers and then is done, whatever the
    requests allow; its address and what it was sent."""
    asked: list[Json] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            body = encoded(route, list(STREAMS[route](len(asked) <= calling)))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join(20)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    transcript = Transcript.new()
    return Session(transcript, Store(tmp_path).journal(transcript.session_id))


def test_a_server_that_calls_although_it_may_not(session: Session) -> None:
    with answering("chat", calling=99) as (url, asked):
        options = Options(stream=True)
        program = Program(Client(url), DRIVERS["chat"], options, built_in(), most_rounds=3)
        rounds = program.turn(session, "Go.", lambda _: None)
    assert len(rounds) == len(asked) == 3
    assert [body.get("tool_choice") for body in asked] == [None, None, "none"]


@pytest.mark.parametrize("route", DRIVERS)
def test_calls_are_kept_apart(route: str, session: Session) -> None:
    with answering(route) as (url, asked):
        program = Program(Client(url), DRIVERS[route], Options(stream=True), built_in())
        rounds: list[Round] = []
        program.turn(session, "Go.", rounds.append)
    assert [output for _, output in rounds[0].results] == [Output("42"), Output("3")]
    assert rounds[1].text == "Done."
    said = session.journal.load().transcript.messages[1]
    calls = [block for block in said.blocks if isinstance(block, ToolUse)]
    assert [(call.id, call.name) for call in calls] == [("call_0", NAMES[0]), ("call_1", NAMES[1])]
    assert [call.input for call in calls] == [FIRST, SECOND]
    assert len(asked) == 2 and told(asked[1]) == {"call_0": "42", "call_1": "3"}


def told(body: Mapping[str, Json]) -> dict[str, str]:
    """The results in a request, by call, wherever the route has them."""
    found: dict[str, str] = {}
    for item in body.get("messages") or body["input"]:
        blocks = item["content"] if isinstance(item.get("content"), list) else []
        for one in (item, *blocks):
            key = one.get("tool_call_id") or one.get("tool_use_id") or one.get("call_id")
            value = one.get("output") or one.get("content")
            if key and isinstance(value, str):
                found[key] = value
    return found
