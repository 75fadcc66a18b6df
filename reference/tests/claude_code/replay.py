"""Replays recorded traffic: the server's own replies take the place of the recorded ones."""

import copy
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.claude_code.client import Answer, ask, count, end
from tests.protocol.server import Server

TRAFFIC = Path(__file__).parents[3] / "simulator" / "halogen_simulator" / "traffic" / "recordings"
_MARK = re.compile(r"^reply-(\d+):")


@dataclass(frozen=True)
class Played:
    """One request of a recording as the server took it."""

    n: int
    thread: str
    answer: Answer
    repeated: int
    """Tokens of the thread's own history that the request repeats."""

    @property
    def new(self) -> int:
        """Tokens of its new text."""
        return self.answer.prompt - self.repeated


def records(name: str) -> list[dict[str, Any]]:
    """The conversation requests of a recording, in order."""
    lines = (TRAFFIC / name).read_text().splitlines()
    return [record for line in lines if (record := json.loads(line))["method"] == "POST"]


class Player:
    """Plays one recording against a server. ``hints``: the hint headers are sent as recorded."""

    def __init__(self, server: Server, *, hints: bool) -> None:
        self._server, self._hints = server, hints
        self._replies: dict[int, Answer] = {}
        self._threads: dict[str, list[tuple[int, int]]] = {}
        """For each thread, the requests so far: number of messages sent, and ``n``."""

    def play(self, record: dict[str, Any]) -> Played:
        n, headers = record["n"], self._headers(record["headers"])
        thread = headers.get("x-claude-code-agent-id", "main")
        body = copy.deepcopy(record["body"])
        repeated = self._put_replies(thread, body["messages"])
        body["max_tokens"], body["temperature"] = 12, 0
        answer = ask(self._server, body, headers)
        assert count(self._server, body, headers) == answer.prompt
        self._replies[n] = answer
        self._threads.setdefault(thread, []).append((len(body["messages"]), n))
        return Played(n, thread, answer, repeated)

    def _headers(self, recorded: dict[str, str]) -> dict[str, str]:
        hints = ("request-class", "agent-type", "compaction")
        return {
            name: value
            for name, value in recorded.items()
            if name.startswith("x-") and (self._hints or not name.endswith(hints))
        }

    def _put_replies(self, thread: str, messages: list[dict[str, Any]]) -> int:
        """Put the server's replies in; returns the tokens up to the last one that is the thread's
        own at its own place."""
        repeated = 0
        for at, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            own = dict(self._threads.get(thread, ())).get(at)
            n = _marked(message) or own
            assert n is not None, f"whose reply is message {at}?"
            message["content"] = self._replies[n].message["content"]
            if n == own:
                repeated = end(self._server, self._replies[n])
        return repeated


def _marked(message: dict[str, Any]) -> int | None:
    for block in message["content"]:
        found = _MARK.match(block.get("text", ""))
        if found:
            return int(found[1])
    return None
