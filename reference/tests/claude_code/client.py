"""A client that speaks as Claude Code does: streamed Messages, session and agent in headers."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.protocol.server import Server

Body = dict[str, Any]
Message = dict[str, Any]
SLACK = 4
"""Tokens a start may cost beyond the new text: a reply's last token is evaluated again."""


@dataclass(frozen=True)
class Answer:
    """A reply, and what it cost."""

    outcome: str | None
    content: list[dict[str, Any]]
    prompt: int
    cached: int
    output: int

    @property
    def cost(self) -> int:
        return self.prompt - self.cached

    @property
    def message(self) -> Message:
        """The reply as it is sent back. An empty one is sent back as an empty text."""
        return {"role": "assistant", "content": self.content or ""}

    @property
    def text(self) -> str:
        return "".join(block.get("text", "") for block in self.content)


def ask(server: Server, body: Body, headers: dict[str, str]) -> Answer:
    """Post one request and fold its stream."""
    sent = {"x-api-key": "sk-example-key-one", "anthropic-version": "2023-06-01", **headers}
    got = server.http.post("/v1/messages?beta=true", json=body, headers=sent)
    assert got.status_code == 200, got.text
    blocks: dict[int, dict[str, Any]] = {}
    usage: dict[str, int] = {}
    pieces: dict[int, str] = {}
    for line in got.text.splitlines():
        if not line.startswith("data: "):
            continue
        event = json.loads(line.removeprefix("data: "))
        match event["type"]:
            case "message_start":
                usage.update(event["message"]["usage"])
            case "content_block_start":
                blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                delta = event["delta"]
                if delta["type"] == "text_delta":
                    blocks[event["index"]]["text"] += delta["text"]
                elif delta["type"] == "input_json_delta":
                    pieces[event["index"]] = pieces.get(event["index"], "") + delta["partial_json"]
            case "message_delta":
                usage.update(event["usage"])
            case "error":
                raise AssertionError(event)
    for index, piece in pieces.items():
        blocks[index]["input"] = json.loads(piece)
    content = [blocks[index] for index in sorted(blocks)]
    cached = usage["cache_read_input_tokens"]
    prompt = usage["input_tokens"] + cached
    outcome = got.headers.get("x-halogen-from")
    return Answer(outcome, content, prompt, cached, usage["output_tokens"])


def count(server: Server, body: Body, headers: dict[str, str]) -> int:
    """Ask for a prompt's length, as Claude Code does beside its requests."""
    asked = {name: value for name, value in body.items() if name not in ("max_tokens", "stream")}
    got = server.http.post("/v1/messages/count_tokens?beta=true", json=asked, headers=headers)
    assert got.status_code == 200, got.text
    return int(got.json()["input_tokens"])


def end(server: Server, answer: Answer) -> int:
    """Tokens of the conversation with this reply, as a later prompt counts them: the reply's own
    tokens may spell its text in another way."""
    around = [{"role": "user", "content": "a"}, answer.message, {"role": "user", "content": "b"}]
    empty = [around[0], {"role": "assistant", "content": ""}, around[2]]
    with_it, without = (
        count(server, {"model": "m", "messages": messages, "tools": TOOLS}, {})
        for messages in (around, empty)
    )
    return answer.prompt + with_it - without


TOOLS = [
    {
        "name": name,
        "description": f"{name} tool",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    for name in ("Agent", "Bash", "Read")
]
SYSTEM = "You are a careful assistant. " * 12


@dataclass
class Thread:
    """One thread of a session, main or subagent, with its history.

    ``hints`` sends the request class, as the client does only when told to.
    """

    server: Server
    session: str
    agent: str | None = None
    parent: str | None = None
    key: str = "sk-example-key-one"
    hints: bool = False
    system: str = SYSTEM
    messages: list[Message] = field(default_factory=list)
    ends: int = 0
    """Tokens of the conversation with its latest reply."""
    billing: int = 0

    def headers(self, request_class: str) -> dict[str, str]:
        sent = {"x-claude-code-session-id": self.session, "x-api-key": self.key}
        if self.agent is not None:
            sent["x-claude-code-agent-id"] = self.agent
        if self.parent is not None:
            sent["x-claude-code-parent-agent-id"] = self.parent
        if self.hints:
            sent["x-claude-code-request-class"] = request_class
        return sent

    def body(self, messages: list[Message], **fields: Any) -> Body:
        """A request body. The attribution line differs from request to request (MAP-7)."""
        self.billing += 1
        line = f"x-anthropic-billing-header: cc_version=2.1.332; cch={self.billing:05x};"
        if self.agent is not None:
            line += " cc_is_subagent=true;"
        return {
            "model": "claude-opus-5-5",
            "max_tokens": 12,
            "system": [
                {"type": "text", "text": line},
                {"type": "text", "text": self.system, "cache_control": {"type": "ephemeral"}},
            ],
            "tools": TOOLS,
            "messages": messages,
            "temperature": 0,
            "stream": True,
            **fields,
        }

    def turn(self, text: str, **fields: Any) -> Answer:
        """The next turn of the conversation; its reply becomes part of the history."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
        kind = "main" if self.agent is None else "subagent"
        answer = self.request(self.messages, kind, **fields)
        # The same message is sent as a plain string later on.
        self.messages[-1] = {"role": "user", "content": text}
        self.messages.append(answer.message)
        self.ends = end(self.server, answer)
        return answer

    def request(self, messages: list[Message], request_class: str, **fields: Any) -> Answer:
        """A request that is not the next turn: nothing is noted."""
        return ask(self.server, self.body(messages, **fields), self.headers(request_class))

    def aside(self, text: str, request_class: str = "auxiliary") -> Answer:
        """A side request that looks exactly like the next turn: a recap, a compaction."""
        return self.request([*self.messages, {"role": "user", "content": text}], request_class)

    def title(self) -> Answer:
        """A title request: no tools, another system text, an output format."""
        body = self.body(
            [{"role": "user", "content": "Write a title for this."}],
            tools=[],
            system=[{"type": "text", "text": "You write titles."}],
            output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}},
        )
        return ask(self.server, body, self.headers("auxiliary"))
