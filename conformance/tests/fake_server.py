"""A tiny server of the protocol for the suite's own tests: no model, only Chat-like bookkeeping.

    python fake_server.py PORT [FAULT ...]     (port 0: any; its address is the first line said)

It remembers histories as JSON and always replies `blue`. Faults break one thing each, so that
tests can see every verdict and exit code come about.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULTS = frozenset(sys.argv[2:])
TTL_S = float(os.environ.get("HALOGEN_FORK_TTL_S", "600"))
CAP = int(os.environ.get("HALOGEN_FORK_HANDLES", "8"))
NAMES: dict[str, list[Any]] = {}
USED_AT: dict[str, float] = {}
LOCK = threading.Lock()
REPLY = "blue"
INPUT = {"/v1/responses": "input"}


def use(name: str) -> None:
    """Restart a live name's clock, and make it the last to lose its place."""
    USED_AT.pop(name, None)
    USED_AT[name] = time.monotonic()


def tidy() -> None:
    """Release what is too old, and what is one too many, least recently used first."""
    now = time.monotonic()
    gone = [name for name, at in USED_AT.items() if at + TTL_S <= now]
    kept = [name for name in USED_AT if name not in gone]
    for name in [*gone, *kept[: max(0, len(kept) - CAP)]]:
        del USED_AT[name], NAMES[name]


def plain_history(body: dict[str, Any], path: str) -> list[Any]:
    """The history as role and text, the same for all routes."""
    system = body.get("system") or body.get("instructions")
    turns: list[Any] = [["system", json.dumps(system)]] if system else []
    for item in body[INPUT.get(path, "messages")]:
        content = item.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        turns.append([item.get("role"), content])
    return turns


def chat(text: str, size: int, cached: int) -> tuple[Any, list[tuple[str, Any]]]:
    head = {"id": "c1", "created": 1, "model": "default"}
    usage = {
        "prompt_tokens": size,
        "completion_tokens": 1,
        "total_tokens": size + 1,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    whole = head | {"object": "chat.completion", "choices": [choice], "usage": usage}
    part = head | {"object": "chat.completion.chunk"}

    def delta(delta: Any, finish: str | None) -> Any:
        return part | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    events = [
        ("", delta({"role": "assistant", "content": ""}, None)),
        ("", delta({"content": text}, None)),
        ("", delta({}, "stop")),
        ("", part | {"choices": [], "usage": usage}),
        ("", "[DONE]"),
    ]
    return whole, events


def messages(text: str, size: int, cached: int) -> tuple[Any, list[tuple[str, Any]]]:
    usage = {
        "input_tokens": size - cached,
        "output_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
    }
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "default"}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    whole = head | {"content": [{"type": "text", "text": text}], "usage": usage} | end
    empty: dict[str, Any] = head | {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    block = {"type": "text", "text": ""}
    named: list[dict[str, Any]] = [
        {"type": "message_start", "message": empty},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]
    return whole, [(str(event["type"]), event) for event in named]


def responses(text: str, size: int, cached: int) -> tuple[Any, list[tuple[str, Any]]]:
    usage = {
        "input_tokens": size,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": size + 1,
    }
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    head = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "default",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
    }
    whole = head | {"status": "completed", "output": [item], "usage": usage}
    begun = head | {"status": "in_progress", "output": [], "usage": None}
    at = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
    added = item | {"status": "in_progress", "content": []}
    named: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": added},
        {"type": "response.content_part.added", **at, "part": part | {"text": ""}},
        {"type": "response.output_text.delta", **at, "delta": text, "logprobs": []},
        {"type": "response.output_text.done", **at, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    numbered = [event | {"sequence_number": number} for number, event in enumerate(named)]
    return whole, [(str(event["type"]), event) for event in numbered]


SHAPES = {"/v1/chat/completions": chat, "/v1/messages": messages, "/v1/responses": responses}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def answer(self, status: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path != "/halogen/handles":
            self.answer(404, b"{}", "application/json", {})
            return
        with LOCK:
            tidy()
            names = [] if "empty-list" in FAULTS else list(NAMES)
        data = [{"name": name} for name in names]
        body = json.dumps({"object": "list", "data": data}).encode()
        self.answer(200, body, "application/json", {})

    def do_POST(self) -> None:
        start, keep = self.headers["X-Halogen-From"], self.headers["X-Halogen-Keep"]
        if start and "die" in FAULTS:
            os._exit(3)
        if start and "stall" in FAULTS:
            threading.Event().wait()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "echo-key" in FAULTS:
            secret = str(self.headers["authorization"]).encode()
            self.answer(500, secret, "text/plain", {"x-echo": secret.decode()})
            return
        turns = plain_history(body, self.path)
        headers, cached, size = {}, 0, len(json.dumps(turns))
        if start:
            with LOCK:
                tidy()
                kept = NAMES.get(start)
                matches = kept is not None and turns[: len(kept)] == kept
                if matches:
                    use(start)
            outcome = "unknown" if kept is None else "used" if matches else "unmatched"
            if "never-unknown" in FAULTS and (self.path, bool(body.get("stream"))) == (
                "/v1/messages",
                True,
            ):
                outcome = "unmatched"
            headers["X-Halogen-From"] = outcome
            cached = len(json.dumps(kept)) if matches else 0
        if keep:
            with LOCK:
                NAMES[keep] = [*turns, ["assistant", REPLY]]
                use(keep)
                tidy()
        whole, events = SHAPES[self.path](REPLY, size, cached)
        if body.get("stream"):
            text = "".join(
                (f"event: {name}\n" if name else "")
                + f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
                for name, event in events
            )
            self.answer(200, text.encode(), "text/event-stream", headers)
        else:
            self.answer(200, json.dumps(whole).encode(), "application/json", headers)


if __name__ == "__main__":
    ThreadingHTTPServer.daemon_threads = True
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
