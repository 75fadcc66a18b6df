"""Messages events to a reply, with the order the SDK and Claude Code insist on."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.conversation import Call, Json
from halogen_conformance.drivers.reading import (
    Notes,
    anthropic_error,
    count,
    is_json_object,
    mapping,
    parse_json,
    text,
    text_or_none,
)
from halogen_conformance.drivers.reply import Finish, Reply, WireError
from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.drivers.usage import FINISH_WORDS, anthropic_usage

_DELTA_KEYS: dict[str, dict[str, str | None]] = {
    "text": {"text_delta": "text", "citations_delta": None},
    "thinking": {"thinking_delta": "thinking", "signature_delta": None},
    "tool_use": {"input_json_delta": "partial_json"},
}
"""Block type to the delta types it may have, and the key of each that holds its piece."""


@dataclass(slots=True)
class _Block:
    kind: str
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    open: bool = True

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class MessagesFold:
    """Folds a Messages stream, ``message_start`` to ``message_stop``, into one reply."""

    usage_expected: bool = True
    notes: Notes = field(default_factory=Notes)
    _blocks: list[_Block] = field(default_factory=list)
    _message: dict[str, Json] | None = None
    _usage: dict[str, Json] = field(default_factory=dict)
    _delta: dict[str, Json] | None = None
    _stopped: bool = False
    _error: WireError | None = None
    _number: int = -1

    def feed(self, event: SseEvent) -> None:
        if event.comment is not None:
            return
        self._number += 1
        where = f"event {self._number}"
        try:
            data = mapping(parse_json(event.data or ""))
        except ValueError:
            self.notes.add(where, f"data is not JSON (event name {event.name!r})")
            return
        kind = text(data.get("type"))
        # The SDK drops events without a name: a stream of them looks like an empty success.
        self.notes.add_unless(
            event.name == kind, where, f"event name {event.name!r} must equal its type {kind!r}"
        )
        self.notes.add_unless(not event.odd_lines, where, "a line that is no SSE field")
        self.notes.add_unless(not self._stopped, where, f"{kind} after message_stop")
        self.notes.add_unless(self._error is None, where, f"{kind} after the error event")
        handler = _HANDLERS.get(kind)
        if handler is not None:
            started = self._message is not None or kind in ("message_start", "error")
            self.notes.add_unless(started, where, f"{kind} before message_start")
            handler(self, data, where)

    def _on_start(self, data: dict[str, Json], where: str) -> None:
        self.notes.add_unless(self._message is None, where, "message_start a second time")
        self._message = mapping(data.get("message"))
        usage = self._message.get("usage")
        counted = count(mapping(usage).get("input_tokens")) is not None
        self.notes.add_unless(
            counted, where, "message_start needs message.usage.input_tokens (clients crash)"
        )
        self._usage |= mapping(usage)

    def _on_block_start(self, data: dict[str, Json], where: str) -> None:
        block = mapping(data.get("content_block"))
        for earlier in self._blocks:
            self.notes.add_unless(not earlier.open, where, "a block starts before the last stopped")
        self.notes.add_unless(
            data.get("index") == len(self._blocks),
            where,
            f"block index {data.get('index')!r} where {len(self._blocks)} was due",
        )
        kind = text(block.get("type"))
        entry = _Block(kind, text(block.get("id")), text(block.get("name")))
        if kind == "tool_use":
            named = bool(entry.id and entry.name)
            self.notes.add_unless(named, where, "a tool_use block needs id and name")
        entry.pieces.append(text(block.get(kind)))
        self._blocks.append(entry)

    def _on_delta(self, data: dict[str, Json], where: str) -> None:
        block = self._open_block(data, where)
        if block is None:
            return
        delta = mapping(data.get("delta"))
        allowed = _DELTA_KEYS.get(block.kind)
        kind = text(delta.get("type"))
        if allowed is None:
            return  # a block type this suite does not know, and its own deltas
        if kind not in allowed:
            self.notes.add(where, f"{kind!r} in a block of type {block.kind!r}")
            return
        key = allowed[kind]
        if key is not None:
            piece = isinstance(delta.get(key), str)
            self.notes.add_unless(piece, where, f"{kind} without its text {key}")
            block.pieces.append(text(delta.get(key)))

    def _on_block_stop(self, data: dict[str, Json], where: str) -> None:
        block = self._open_block(data, where)
        if block is not None:
            block.open = False

    def _open_block(self, data: dict[str, Json], where: str) -> _Block | None:
        index = data.get("index")
        if type(index) is int and 0 <= index < len(self._blocks) and self._blocks[index].open:
            return self._blocks[index]
        self.notes.add(where, f"{data.get('type')} for block {index!r}, which is not open")
        return None

    def _on_message_delta(self, data: dict[str, Json], where: str) -> None:
        still_open = any(block.open for block in self._blocks)
        self.notes.add_unless(not still_open, where, "message_delta while a block is open")
        self._delta = (self._delta or {}) | mapping(data.get("delta"))
        usage = mapping(data.get("usage"))
        counted = count(usage.get("output_tokens")) is not None
        self.notes.add_unless(counted, where, "message_delta needs usage.output_tokens")
        # Cumulative: later figures replace earlier ones; nulls say nothing.
        self._usage |= {key: value for key, value in usage.items() if value is not None}

    def _on_message_stop(self, data: dict[str, Json], where: str) -> None:
        self.notes.add_unless(self._delta is not None, where, "message_stop before message_delta")
        self._stopped = True

    def _on_error(self, data: dict[str, Json], where: str) -> None:
        self._error = anthropic_error(data, self.notes, in_band=True)

    def finish(self) -> Reply:
        end = "end of stream"
        if self._error is None:
            self.notes.add_unless(self._message is not None, end, "no message_start was sent")
            self.notes.add_unless(self._stopped, end, "message_stop is missing")
        word = text_or_none((self._delta or {}).get("stop_reason"))
        if self._stopped:
            self.notes.add_unless(word is not None, end, "no stop_reason was sent")
        calls = []
        for block in self._blocks:
            if block.kind != "tool_use":
                continue
            arguments = block.text or "{}"
            # Cut by a limit they may end anywhere; whole ones that are malformed make SDKs raise.
            if word == "tool_use":
                whole = is_json_object(arguments)
                self.notes.add_unless(whole, end, f"input of {block.name} is not a JSON object")
            calls.append(Call(block.id, block.name, arguments))
        finish = FINISH_WORDS["messages"].get(word, Finish.OTHER) if word else None
        message = self._message or {}
        usage = anthropic_usage(self._usage, "usage", self.notes) if self._usage else None
        return Reply(
            "".join(block.text for block in self._blocks if block.kind == "text"),
            "".join(block.text for block in self._blocks if block.kind == "thinking"),
            tuple(calls),
            Finish.FAILED if self._error else finish,
            word,
            text_or_none((self._delta or {}).get("stop_sequence")),
            usage,
            text_or_none(message.get("id")),
            text_or_none(message.get("model")),
            self._error,
            problems=tuple(self.notes.found),
        )


_HANDLERS = {
    "message_start": MessagesFold._on_start,
    "content_block_start": MessagesFold._on_block_start,
    "content_block_delta": MessagesFold._on_delta,
    "content_block_stop": MessagesFold._on_block_stop,
    "message_delta": MessagesFold._on_message_delta,
    "message_stop": MessagesFold._on_message_stop,
    "error": MessagesFold._on_error,
}
"""Event type to its handler. ``ping`` and types of the future have none and are let through."""
