"""One thread of a made-up session, and its requests as the client spells them."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from uuid import UUID

from halogen_simulator.traffic.clients import Client
from halogen_simulator.traffic.placeholders import words
from halogen_simulator.traffic.recording import (
    AGENT,
    COUNT_PATH,
    HINT,
    MESSAGES_PATH,
    PARENT,
    SESSION,
    Message,
    Recorded,
    call_mark,
    text_mark,
)

Block = dict[str, Any]
_MARK = {"cache_control": {"type": "ephemeral"}}


def text(value: str) -> Block:
    """A ``text`` content block of Messages."""
    return {"type": "text", "text": value}


@dataclass
class Session:
    """What the threads of a session share."""

    client: Client
    rng: Random
    numbers: Iterator[int]
    """The next request's number."""
    key: str
    hints: bool
    words: int
    """About the length of a text, in words."""
    id: str = ""

    def __post_init__(self) -> None:
        self.id = self.id or str(UUID(int=self.rng.getrandbits(128), version=4))

    def words_of(self, times: float = 1.0) -> str:
        return words(self.rng, max(2, round(self.words * times)))


@dataclass
class Thread:
    """A main conversation or a subagent. ``messages`` have lists of blocks as their content."""

    session: Session
    system: str
    agent: str | None = None
    parent: str | None = None
    """With ``agent``: the subagent that called it; None for the main conversation."""
    agent_type: str = ""
    messages: list[Message] = field(default_factory=list)
    reply: Block = field(default_factory=dict)
    """The latest reply's text block."""

    def fork(self, agent: str, call: str, task: str, at: int) -> "Thread":
        """A fork subagent: the history before the reply at ``at``, then its own call alone."""
        made = next(block for block in self.messages[at]["content"] if block.get("id") == call)
        started = {"type": "tool_result", "tool_use_id": call, "content": [text("Fork started.")]}
        history = copy.deepcopy(self.messages[:at])
        history.append({"role": "assistant", "content": [copy.deepcopy(made)]})
        history.append({"role": "user", "content": [started, text(task)]})
        return replace(
            self, agent=agent, parent=self.agent, agent_type="fork", messages=history, reply={}
        )

    def copied(self, session: Session | None = None) -> "Thread":
        """The same history in another client program, or another session."""
        messages = copy.deepcopy(self.messages)
        return replace(self, session=session or self.session, messages=messages)

    def say(self, *content: Block) -> None:
        """Add a user message."""
        self.messages.append({"role": "user", "content": list(content)})

    def note(self, words: str) -> None:
        """Add a system message in the middle, if this client does that."""
        if self.session.client.system_messages:
            self.messages.append({"role": "system", "content": [text(words)]})

    def turn(self, *calls: tuple[str, dict[str, Any]]) -> Recorded:
        """Ask with the history as it is; the reply, with these calls, becomes part of it."""
        record = self.request(self.messages, "main" if self.agent is None else "subagent")
        self.reply = text(text_mark(record.n, self.session.words_of()))
        made = [
            {"type": "tool_use", "id": call_mark(record.n, k), "name": name, "input": arguments}
            for k, (name, arguments) in enumerate(calls, start=1)
        ]
        self.messages.append({"role": "assistant", "content": [self.reply, *made]})
        return record

    def calls(self) -> list[Block]:
        """The tool calls of the latest reply."""
        return [block for block in self.messages[-1]["content"] if block["type"] == "tool_use"]

    def aside(self, words: str, request_class: str) -> Recorded:
        """A request that looks exactly like the next turn, and is not part of the history."""
        question = {"role": "user", "content": [text(words)]}
        return self.request([*self.messages, question], request_class)

    def request(self, messages: list[Message], request_class: str, **fields: Any) -> Recorded:
        """A streamed request. A field that is None is left out."""
        session = self.session
        tools = session.client.tools if self._has_all_tools() else session.client.subagent_tools
        body = {
            "model": "claude-opus-5-5",
            "messages": self._spelled(messages),
            "system": [*self._attributed(), text("You are Claude Code."), text(self.system)],
            "tools": list(tools),
            "metadata": {"user_id": self._user_id()},
            **session.client.extra,
            "stream": True,
            **fields,
        }
        body = copy.deepcopy({name: value for name, value in body.items() if value is not None})
        if len(body.get("system", ())) > 1:
            body["system"][-1].update(_MARK)
        return self._recorded("POST", f"{MESSAGES_PATH}?beta=true", request_class, body)

    def title(self) -> Recorded:
        """No tools, another system, an output format."""
        shape = {"type": "object", "properties": {"title": {"type": "string"}}}
        return self.request(
            [{"role": "user", "content": [text(self.session.words_of())]}],
            "auxiliary",
            system=[*self._attributed(), text("Write a title for the conversation.")],
            tools=[],
            output_config={"format": {"type": "json_schema", "schema": shape}},
        )

    def probe(self) -> Recorded:
        """One token, to see whether the server answers at all."""
        quota: list[Message] = [{"role": "user", "content": [text("quota")]}]
        off = dict.fromkeys((*self.session.client.extra, "tools", "system", "stream"))
        return self.request(quota, "auxiliary", **{**off, "max_tokens": 1})

    def stranger(self, words: str) -> Recorded:
        """A workflow agent that says nothing of itself but its session."""
        return self.request(
            [{"role": "user", "content": [text(words)]}],
            "workflow",
            system=[*self._attributed(), text("You are one step of a workflow.")],
        )

    def count(self) -> Recorded:
        """How long the history is by now."""
        gone = [name for name in self.session.client.extra if name not in ("thinking",)]
        kept = self.request(self.messages, "auxiliary", **dict.fromkeys((*gone, "stream")))
        return replace(kept, path=f"{COUNT_PATH}?beta=true")

    def hello(self) -> Recorded:
        """The sign of life at a client's start."""
        n = next(self.session.numbers)
        return Recorded(n, "HEAD", "/api/hello", {"user-agent": "Bun/1.4.6"})

    def _has_all_tools(self) -> bool:
        return self.agent is None or self.agent_type == "fork"

    def _recorded(self, method: str, path: str, request_class: str, body: Any) -> Recorded:
        session = self.session
        headers = {
            "content-type": "application/json",
            "user-agent": session.client.user_agent,
            "anthropic-version": "2023-06-01",
            "anthropic-beta": session.client.betas,
            "x-api-key": session.key,
            "x-app": "cli",
        }
        if session.client.session_in == "header":
            headers[SESSION] = session.id
        if self.agent is not None and session.client.names_agents:
            headers[AGENT] = self.agent
        if self.parent is not None and session.client.names_agents:
            headers[PARENT] = self.parent
        if session.hints:
            headers[HINT] = request_class
            if request_class == "subagent":
                headers["x-claude-code-agent-type"] = self.agent_type
            if request_class == "compaction":
                headers["x-claude-code-compaction"] = "manual"
        return Recorded(next(session.numbers), method, path, headers, body)

    def _user_id(self) -> str:
        if self.session.client.session_in == "metadata":
            return f"user_{'d' * 64}_account__session_{self.session.id}"
        fields = {"device_id": "d" * 64, "account_uuid": "", "session_id": self.session.id}
        return json.dumps(fields, separators=(",", ":"))

    def _attributed(self) -> list[Block]:
        return [text(self._attribution())] if self.session.client.attribution else []

    def _attribution(self) -> str:
        """The line put first in ``system``; it differs between requests (MAP-7)."""
        client, rng = self.session.client, self.session.rng
        version = client.version
        if client.suffix:
            # In print mode it was the same for all requests of a thread.
            part = rng.getrandbits(12) if client.content_hash else 0xFB8 if self.agent else 0x288
            version += f".{part:03x}"
        line = f"x-anthropic-billing-header: cc_version={version}; "
        line += f"cc_entrypoint={client.entrypoint};"
        if client.content_hash:
            line += f" cch={rng.getrandbits(20):05x};"
        return line + " cc_is_subagent=true;" if self.agent is not None else line

    def _spelled(self, messages: list[Message]) -> list[Message]:
        """Messages as this request spells them: the last is a list with a mark; earlier ones of a
        single text are plain strings; results are strings or lists, ``is_error`` comes and goes."""
        rng = self.session.rng
        spelled = copy.deepcopy(messages)
        for message in spelled:
            for block in message["content"]:
                if block["type"] == "tool_result" and len(block["content"]) == 1:
                    if rng.random() < 0.5:
                        block["content"] = block["content"][0]["text"]
                    if rng.random() < 0.5:
                        block["is_error"] = False
            if message is spelled[-1]:
                message["content"][-1].update(_MARK)
            elif message["role"] != "assistant" and len(message["content"]) == 1:
                block = message["content"][0]
                message["content"] = block["text"] if block["type"] == "text" else [block]
        return spelled
