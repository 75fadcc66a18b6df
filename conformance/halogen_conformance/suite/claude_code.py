"""Requests of the shapes Claude Code 2.1 was seen to send: sessions, subagents, side requests.

Nothing here looks at X-Halogen-From: on these requests it is each server's own business (MAP-10).
What a thread starts from shows in its cost.
"""

from __future__ import annotations

import copy
import json
import uuid
from dataclasses import dataclass, field, replace
from typing import Any

from halogen_conformance.drivers import MESSAGES
from halogen_conformance.drivers.answer import Answer, read
from halogen_conformance.drivers.client import STAY, Client, Leave
from halogen_conformance.drivers.driver import Header, Options, Request
from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.outcomes import arranged, expect
from halogen_conformance.suite.basics import arranged_cheap
from halogen_conformance.suite.kept import unique_word

Message = dict[str, Any]
Body = dict[str, Any]

SESSION = "x-claude-code-session-id"
AGENT = "x-claude-code-agent-id"
PARENT = "x-claude-code-parent-agent-id"
HINT = "x-claude-code-request-class"
PATH = "/v1/messages?beta=true"

SLACK = 48
"""Prompt tokens a start may cost beyond the new text: servers that reuse whole blocks of a cache
read the last, incomplete one again."""

TOOLS: list[Body] = [
    {
        "name": "Agent",
        "description": "Agent tool",
        "input_schema": {"type": "object"},
    }
]
"""The client sends dozens; one is enough of a history, and a server with a real model reads it."""


def new_session() -> str:
    """A session id as the client makes them."""
    return str(uuid.uuid4())


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


@dataclass
class Thread:
    """One thread, main conversation or subagent, with the history its client holds."""

    client: Client
    session: str
    agent: str | None = None
    parent: str | None = None
    """With ``agent``: the subagent that called it; None for the main conversation."""
    hints: bool = False
    """The client was told to send the class of its requests. By default it does not."""
    system: str = ""
    messages: list[Message] = field(default_factory=list)
    size: int = 0
    """Tokens of the history with its latest reply, as the server counts them."""
    sent: int = 0

    def __post_init__(self) -> None:
        # Words of its own at the very beginning, and enough of them for the cost to tell.
        self.system = self.system or f"Notes for {unique_word()}. " + "Be brief. " * 14

    def subagent(self, agent: str, *, system: str = "") -> Thread:
        """A subagent that this thread calls; with a history of its own."""
        return Thread(
            self.client, self.session, agent, self.agent, self.hints, system or f"{agent} helps."
        )

    def fork(self, agent: str, *, at: int) -> Thread:
        """A fork subagent: it repeats the first ``at`` messages, then only its own call."""
        forked = self.subagent(agent, system=self.system)
        call = {"type": "tool_use", "id": f"toolu_{agent}", "name": "Agent", "input": {"text": "x"}}
        forked.messages = [
            *copy.deepcopy(self.messages[:at]),
            {"role": "assistant", "content": [call]},
        ]
        return forked

    def headers(self, request_class: str) -> tuple[Header, ...]:
        found: list[Header] = [(SESSION, self.session)]
        if self.agent is not None:
            found.append((AGENT, self.agent))
        if self.parent is not None:
            found.append((PARENT, self.parent))
        if self.hints:
            found.append((HINT, request_class))
        return tuple(found)

    def attribution(self) -> str:
        """The line put first in system; it differs between the requests of one conversation."""
        self.sent += 1
        line = f"x-anthropic-billing-header: cc_version=2.1.332.{self.sent:03x}; "
        line += f"cc_entrypoint=cli; cch={self.sent:05x};"
        return line + " cc_is_subagent=true;" if self.agent is not None else line

    def body(self, messages: list[Message], **fields: Any) -> Body:
        """A request body. A field that is None is left out."""
        body = {
            "model": "claude-opus-5-5",
            "max_tokens": 5,
            "system": [
                text(self.attribution()),
                text(self.system) | {"cache_control": {"type": "ephemeral"}},
            ],
            "tools": TOOLS,
            "messages": messages,
            "metadata": {"user_id": json.dumps({"session_id": self.session})},
            "temperature": 0,
            "stream": True,
            **fields,
        }
        return {name: value for name, value in body.items() if value is not None}

    def request(
        self,
        messages: list[Message],
        request_class: str = "main",
        *,
        headers: tuple[Header, ...] = (),
        leave: Leave = STAY,
        **fields: Any,
    ) -> Answer:
        """A request on this thread that leaves its history as it is."""
        body = self.body(messages, **fields)
        sent = (*self.headers(request_class), *headers)
        return post(self.client, body, sent, leave=leave)

    def ask(self, question: str | list[dict[str, Any]], **fields: Any) -> Answer:
        """The next turn. Raises Blocked when it is not answered."""
        content = [text(question)] if isinstance(question, str) else question
        self.messages.append({"role": "user", "content": content})
        kind = "main" if self.agent is None else "subagent"
        answer = self.request(self.messages, kind, **fields)
        arranged(answer.ok, f"a turn was not answered: {answer.story}")
        arranged(answer.reply.usage is not None, "a reply has no usage, so its cost is unknown")
        # The same message is a list with a mark now and a plain string later.
        if isinstance(question, str):
            self.messages[-1] = {"role": "user", "content": question}
        self.messages.append(said(answer))
        usage = answer.reply.usage
        self.size = usage.prompt + usage.output if usage else 0
        return answer

    def goes_on(self, question: str | list[dict[str, Any]], *, blocks: bool = False) -> Answer:
        """The next turn, which must start from all that the thread has said.

        ``blocks``: it is an arrangement of the test, not its question.
        """
        before = self.size
        answer = self.ask(question)
        check = cheap(answer, before)
        reason = f"the thread's next turn read {answer.cost} prompt tokens"
        if blocks:
            arranged(check, f"{reason}; of those before it {before} were known")
        expect(
            check,
            expected=f"a turn that starts from the {before} tokens of its thread",
            actual=f"{reason} of {answer.reply.usage.prompt if answer.reply.usage else 0}",
        )
        return answer

    def aside(self, question: str, request_class: str = "auxiliary") -> Answer:
        """A side request that looks exactly like the next turn: a recap, a compaction."""
        return self.request([*self.messages, {"role": "user", "content": question}], request_class)

    def title(self) -> Answer:
        """No tools, another system text, an output format."""
        return self.request(
            [{"role": "user", "content": "Write a title for this conversation."}],
            "auxiliary",
            system=[text(self.attribution()), text("You write titles.")],
            tools=[],
            output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}},
        )

    def probe(self) -> Answer:
        """One token, to see whether the server answers at all."""
        quota = [{"role": "user", "content": "quota"}]
        return self.request(quota, "auxiliary", max_tokens=1, tools=None, system=None)

    def count(self) -> Exchange:
        """How long the history is by now."""
        body = self.body(self.messages, max_tokens=None, stream=None, temperature=None)
        headers = (("anthropic-version", "2023-06-01"), *self.headers("auxiliary"))
        path = "/v1/messages/count_tokens?beta=true"
        return self.client.send(Request("POST", path, headers, body, "count_tokens"))

    def resumed(self) -> Thread:
        """The same thread in another client program, with the history as it is now."""
        return replace(self, messages=copy.deepcopy(self.messages))


_mapped: set[tuple[str, bool]] = set()
"""Servers (by address) that were seen to map, with the line put first in system and without."""


def arranged_mapping(client: Client, *, lines: bool = True) -> None:
    """Blocked unless the plainest thread goes on from its own state (MAP-1), on a server whose
    starts are cheap (FROM-7): cost is all that these tests can see."""
    arranged_cheap(client, MESSAGES, Options(stream=True))
    if (client.url, lines) in _mapped:
        return
    thread = Thread(client, new_session())
    plain = {} if lines else {"system": [text(thread.system)]}
    for number in range(3):
        known = thread.size
        answer = thread.ask(f"Question {number}.", **plain)
        goes_on = not known or cheap(answer, known)
        arranged(goes_on, f"a plain thread does not go on from its own state: {answer.story}")
    _mapped.add((client.url, lines))


def post(client: Client, body: Body, headers: tuple[Header, ...], *, leave: Leave = STAY) -> Answer:
    """Send a body of Claude Code's."""
    sent = (("anthropic-version", "2023-06-01"), ("x-app", "cli"), *headers)
    exchange = client.send(Request("POST", PATH, sent, body, MESSAGES.route), leave=leave)
    return read(MESSAGES, exchange, streamed=bool(body.get("stream")))


def said(answer: Answer) -> Message:
    """A reply as the client sends it back."""
    blocks: list[dict[str, Any]] = [text(answer.reply.text)] if answer.reply.text else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in answer.reply.calls
    ]
    return {"role": "assistant", "content": blocks or ""}


def cheap(answer: Answer, known: int) -> bool:
    """The answer cost about what it brings beyond ``known`` tokens of its prompt."""
    usage = answer.reply.usage
    return usage is not None and usage.cost <= max(usage.prompt - known, 0) + SLACK
