"""A streamed Messages answer: blocks one after the other, every event named after its type."""

from halogen_reference.dialects import sse
from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.messages import parts
from halogen_reference.dialects.messages.arguments import ObjectText
from halogen_reference.dialects.messages.request import MessagesRequest
from halogen_reference.reply import (
    Admitted,
    CallDelta,
    CallEnd,
    CallStart,
    ReasoningDelta,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
    Usage,
)


class MessagesStream:
    """See :class:`halogen_reference.dialects.dialect.Stream`."""

    def __init__(self, request: MessagesRequest) -> None:
        self._request = request
        self._started = False
        self._index = -1
        self._open = ""
        """Type of the open block; "" between blocks."""
        self._arguments = ObjectText()

    def feed(self, event: ReplyEvent, choice: int = 0) -> bytes:
        match event:
            case Admitted(usage):
                return self._start(usage)
            case ReasoningDelta(text) if text:
                opened = self._enter("thinking", parts.thinking("", ""))
                return opened + self._delta("thinking_delta", "thinking", text)
            case TextDelta(text) if text:
                opened = self._enter("text", parts.text(""))
                return opened + self._delta("text_delta", "text", text)
            case CallStart(_, call_id, name):
                self._arguments = ObjectText()
                closed = self._close()
                return closed + self._enter("tool_use", parts.tool_use(call_id, name, {}))
            case CallDelta(_, arguments):
                return self._json(self._arguments.feed(arguments))
            case CallEnd():
                return self._close()
            case ReplyEnd():
                return self._close() + self._finish(event)
        return b""

    def keepalive(self) -> bytes:
        """A ping; clients know of no event before ``message_start`` (P19)."""
        return sse.named({"type": "ping"}) if self._started else b""

    def failed(self, message: str) -> bytes:
        error: JsonObject = {"type": "api_error", "message": message}
        return sse.named({"type": "error", "error": error})

    def end(self) -> bytes:
        """The end of the reply has closed the stream already."""
        return b""

    def _start(self, usage: Usage) -> bytes:
        self._started = True
        message = parts.message(self._request, parts.usage(usage, 0), [])
        return sse.named({"type": "message_start", "message": message})

    def _finish(self, end: ReplyEnd) -> bytes:
        delta: JsonObject = {
            "stop_reason": parts.STOP_REASONS[end.finish],
            "stop_sequence": end.stop_string,
        }
        # The exact counts: those of message_start were made before the prompt was evaluated.
        usage = parts.usage(end.usage, end.usage.output)
        closing = sse.named({"type": "message_delta", "delta": delta, "usage": usage})
        return closing + sse.named({"type": "message_stop"})

    def _enter(self, kind: str, block: JsonObject) -> bytes:
        """Open a block of this type, unless the open one is of it."""
        if self._open == kind:
            return b""
        closed = self._close()
        self._open = kind
        self._index += 1
        start: JsonObject = {"type": "content_block_start", "index": self._index}
        return closed + sse.named({**start, "content_block": block})

    def _close(self) -> bytes:
        if not self._open:
            return b""
        last = b""
        if self._open == "thinking":
            last = self._delta("signature_delta", "signature", parts.SIGNATURE)
        elif self._open == "tool_use":
            last = self._json(self._arguments.finish())
        self._open = ""
        return last + sse.named({"type": "content_block_stop", "index": self._index})

    def _json(self, piece: str) -> bytes:
        return self._delta("input_json_delta", "partial_json", piece) if piece else b""

    def _delta(self, kind: str, name: str, text: str) -> bytes:
        delta: JsonObject = {"type": kind, name: text}
        return sse.named({"type": "content_block_delta", "index": self._index, "delta": delta})
