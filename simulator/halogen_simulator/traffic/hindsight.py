"""What kind of request each one was, told from the whole recording.

On arrival a recap, a compaction and the next turn look the same; which it was shows in what the
thread repeats later. So this needs no hint header, and works for recorded, generated and real
traffic alike.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from halogen_simulator.traffic import kinds
from halogen_simulator.traffic.kinds import Kind
from halogen_simulator.traffic.recording import (
    COUNT_PATH,
    HINT,
    MESSAGES_PATH,
    Message,
    Recorded,
    Thread,
    blocks,
    marked,
    without_mark,
)

_ATTRIBUTION = "x-anthropic-billing-header:"


@dataclass(frozen=True, slots=True)
class Placed:
    """A request and its place among the others."""

    record: Recorded
    kind: Kind
    base: int | None = None
    """The request whose history it repeats, and goes on from."""
    whole: bool = False
    """It repeats that request's reply as well, not only its prompt."""


@dataclass(slots=True)
class Shape:
    """A recorded reply, put together from all requests that repeat it."""

    text: bool = False
    calls: list[str] = field(default_factory=list)
    """Ids of its tool calls, in their order."""

    def is_whole(self, message: Message) -> bool:
        """The message repeats all of the reply. A fork subagent repeats one call of it only."""
        found = _shape(message)
        return found.text == self.text and found.calls == self.calls

    def add(self, message: Message) -> None:
        found = _shape(message)
        self.text |= found.text
        # Who repeats more of them knows their order: a fork subagent repeats its own call only.
        more, fewer = sorted((self.calls, found.calls), key=len, reverse=True)
        self.calls = [*more, *(call for call in fewer if call not in more)]


@dataclass(slots=True, eq=False)
class _Node:
    """A request of a conversation."""

    record: Recorded
    edges: list[bytes]
    """For each message, a digest of everything up to and including it."""
    base: "_Node | None" = None
    reply_at: int = 0
    """With ``base``: the message that is its reply."""
    children: list["_Node"] = field(default_factory=list)
    """Requests of its own thread that go on from it."""

    @property
    def n(self) -> int:
        return self.record.n

    @property
    def own_base(self) -> "_Node | None":
        """The base, when it is of the same thread."""
        same = self.base is not None and self.base.record.thread == self.record.thread
        return self.base if same else None

    @property
    def root(self) -> "_Node":
        """The request of its thread that its history began with."""
        node = self
        while node.own_base is not None:
            node = node.own_base
        return node


class Hindsight:
    """A recording's requests by what they repeat."""

    def __init__(self, records: Sequence[Recorded]) -> None:
        self.records = list(records)
        self._nodes: dict[int, _Node] = {}
        self._ends: dict[bytes, list[_Node]] = {}
        """The digest of a whole history to the requests that had it."""
        self._threads: dict[Thread, list[_Node]] = {}
        self._shapes: dict[int, Shape] = {}
        self._again = _sent_before(self.records)
        with_tools = {record.thread for record in self.records if _has_tools(record)}
        for record in self.records:
            if _is_turn(record, tools_expected=record.thread in with_tools):
                self._add(record)

    def placed(self) -> list[Placed]:
        """Every request with its kind, in order."""
        return [self._place(record) for record in self.records]

    def reply_of(self, record: Recorded, at: int) -> int | None:
        """The request whose reply message ``at`` is; None for a reply from before the recording."""
        n = _marked(record.messages[at])
        node = self._nodes.get(record.n)
        if n is None and node is not None and at:
            found = self._latest(node.edges[at - 1], record)
            n = found.n if found else None
        return n

    def shape(self, n: int) -> Shape:
        """What the recorded reply to request ``n`` consisted of, as far as anybody repeats it."""
        return self._shapes.get(n, Shape())

    def _add(self, record: Recorded) -> None:
        node = self._nodes[record.n] = _Node(record, _edges(record))
        for at, message in enumerate(record.messages):
            if message.get("role") == "assistant" and (n := self.reply_of(record, at)) is not None:
                self._shapes.setdefault(n, Shape()).add(message)
        for at in range(len(record.messages) - 1, 0, -1):
            message = record.messages[at]
            if message.get("role") != "assistant":
                continue
            base = self._latest(node.edges[at - 1], record, _marked(message))
            if base is not None:
                node.base, node.reply_at = base, at
                break
        if node.own_base is not None:
            node.own_base.children.append(node)
        self._ends.setdefault(node.edges[-1], []).append(node)
        self._threads.setdefault(record.thread, []).append(node)

    def _latest(self, edge: bytes, record: Recorded, mark: int | None = None) -> _Node | None:
        """The latest request with this history: of the record's own thread, else of its session,
        else of its key. With a mark only the one it names."""
        mine = record.thread
        near = [
            (node.record.thread == mine, node.record.thread.session == mine.session, node.n, node)
            for node in self._ends.get(edge, ())
            if node.n < record.n and node.record.thread.key == mine.key and mark in (None, node.n)
        ]
        return max(near, key=lambda found: found[:3])[3] if near else None

    def _place(self, record: Recorded) -> Placed:
        node = self._nodes.get(record.n)
        if record.n in self._again:
            return Placed(record, kinds.AGAIN)
        if node is None:
            return Placed(record, _kind_aside(record))
        if node.base is None:
            return Placed(record, self._kind(node))
        whole = self.shape(node.base.n).is_whole(record.messages[node.reply_at])
        return Placed(record, self._kind(node), node.base.n, whole)

    def _kind(self, node: _Node) -> Kind:
        if node.own_base is not None:
            return self._kind_of_next(node, node.own_base)
        first = self._threads[node.record.thread][0] is node
        if node.record.thread.agent is not None:
            if node.base is not None:
                return kinds.FORK
            return kinds.SUB_FIRST if first else kinds.REWRITTEN
        if node.base is not None:
            return kinds.SESSION_FORK
        if first:
            return kinds.FIRST
        return kinds.STRANGER if self._is_stranger(node) else kinds.REWRITTEN

    def _kind_of_next(self, node: _Node, base: _Node) -> Kind:
        """The kind of a request that goes on from an earlier one of its thread."""
        if any(child.children and child.n < node.n for child in base.children):
            return kinds.OLDER
        turn = kinds.TURN if node.record.thread.agent is None else kinds.SUB_TURN
        if turn is kinds.TURN and self._is_stranger(node.root):
            return kinds.STRANGER_TURN
        if node.children:
            return turn
        hinted = _HINTED.get(node.record.headers.get(HINT, ""))
        if hinted is not None:
            return hinted
        thread = self._threads[node.record.thread]
        if any(
            child.n > node.n and (child.children or child is thread[-1]) for child in base.children
        ):
            return kinds.ASIDE
        later = [other for other in thread if other.n > node.n and other.own_base is None]
        return kinds.COMPACTION if any(not self._is_stranger(other) for other in later) else turn

    def _is_stranger(self, node: _Node) -> bool:
        """A request that repeats nothing, while the thread goes on from before it."""
        thread = self._threads[node.record.thread]
        if node is thread[0] or node.own_base is not None:
            return False
        return node.record.headers.get(HINT) == "workflow" or any(
            other.n > node.n and other.own_base is not None and other.own_base.n < node.n
            for other in thread
        )


_HINTED = {"auxiliary": kinds.ASIDE, "compaction": kinds.COMPACTION}


def _kind_aside(record: Recorded) -> Kind:
    if record.route == COUNT_PATH:
        return kinds.COUNT
    if record.method != "POST":
        return kinds.HELLO
    if record.route != MESSAGES_PATH:
        return kinds.OTHER
    return kinds.PROBE if _is_probe(record) else kinds.TITLE


def _sent_before(records: Sequence[Recorded]) -> set[int]:
    """Numbers of the requests that say what an earlier one of their thread has said, and no more:
    sent again after a failure, or a side request about the same text."""
    seen: set[tuple[Thread, str, bytes]] = set()
    again: set[int] = set()
    for record in records:
        asks = record.method == "POST" and record.route == MESSAGES_PATH and record.messages
        if asks and not _is_probe(record):
            what = (record.thread, record.route, _edges(record)[-1])
            (again.add(record.n) if what in seen else seen.add(what))
    return again


def _has_tools(record: Recorded) -> bool:
    return bool(isinstance(record.body, dict) and record.body.get("tools"))


def _is_probe(record: Recorded) -> bool:
    return bool(record.body.get("max_tokens") in (0, 1))


def _is_turn(record: Recorded, *, tools_expected: bool) -> bool:
    if record.method != "POST" or record.route != MESSAGES_PATH or not record.messages:
        return False
    return not _is_probe(record) and (_has_tools(record) or not tools_expected)


def _marked(message: Message) -> int | None:
    found = (marked(block) for block in blocks(message.get("content")))
    return next((n for n in found if n is not None), None)


def _shape(message: Message) -> Shape:
    content = blocks(message.get("content"))
    calls = [str(block.get("id")) for block in content if block.get("type") == "tool_use"]
    return Shape(any(block.get("text") for block in content), calls)


def _edges(record: Recorded) -> list[bytes]:
    body = record.body
    system = [block.get("text", "") for block in blocks(body.get("system"))]
    if system and system[0].startswith(_ATTRIBUTION):
        del system[0]
    edge = _digest(b"", [system, body.get("tools") or []])
    edges = []
    for message in record.messages:
        meant = [_meaning(block) for block in blocks(message.get("content"))]
        meant = [block for block in meant if block is not None]
        if meant:
            edge = _digest(edge, [message.get("role"), meant])
        edges.append(edge)
    return edges


def _meaning(block: dict[str, Any]) -> Any:
    """A block without what may change between requests: marks, spellings, thoughts (FROM-8)."""
    if block.get("type") in ("thinking", "redacted_thinking"):
        return None
    kept = {name: value for name, value in block.items() if name != "cache_control"}
    if block.get("type") == "text":
        # A reply is marked only while its text tells it from every other.
        kept["text"] = without_mark(str(block.get("text", "")))
    if block.get("type") == "tool_result":
        kept["content"] = [_meaning(inner) for inner in blocks(block.get("content"))]
        if not kept.get("is_error"):
            kept.pop("is_error", None)
    return kept


def _digest(before: bytes, value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return blake2b(before + text.encode(), digest_size=16).digest()
