"""A streamed Responses answer: numbered events, items one after the other."""

from collections.abc import Sequence

from halogen_reference.dialects import sse
from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.logprobs import token_logprobs
from halogen_reference.dialects.responses import items
from halogen_reference.dialects.responses.open_item import (
    MESSAGE,
    REASONING,
    Kind,
    OpenCall,
    OpenItem,
    OpenText,
)
from halogen_reference.dialects.responses.request import ResponsesRequest
from halogen_reference.reply import (
    Admitted,
    CallDelta,
    CallEnd,
    CallStart,
    ReasoningDelta,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
)


class ResponsesStream:
    """See :class:`halogen_reference.dialects.dialect.Stream`."""

    def __init__(self, request: ResponsesRequest) -> None:
        self._request = request
        self._number = 0
        self._alive = False
        """Between the first event and the terminal one."""
        self._output: list[JsonObject] = []
        self._open: OpenItem | None = None

    def feed(self, event: ReplyEvent, choice: int = 0) -> bytes:
        match event:
            case Admitted():
                return self._start()
            case ReasoningDelta(text) if text:
                return self._enter(REASONING) + self._piece(text)
            case TextDelta(text, logprobs) if text or logprobs:
                return self._enter(MESSAGE) + self._piece(text, token_logprobs(logprobs))
            case CallStart(_, call_id, name):
                closed = self._close("completed")
                return closed + self._begin(OpenCall(self._request, call_id, name))
            case CallDelta(_, arguments) if arguments:
                return self._piece(arguments)
            case CallEnd():
                return self._close("completed")
            case ReplyEnd():
                return self._finish(event)
        return b""

    def keepalive(self) -> bytes:
        """An event every client knows: comments are no sign of life to Codex."""
        return self._send(self._in_progress()) if self._alive else b""

    def failed(self, message: str) -> bytes:
        """The terminal event of a failure. A bare ``error`` event is not understood by Codex."""
        begun = b"" if self._number else self._start()
        self._alive = False
        failed = items.response(self._request, "failed", self._output, failure=message)
        return begun + self._send({"type": "response.failed", "response": failed})

    def end(self) -> bytes:
        """The terminal event has closed the stream already."""
        return b""

    def _start(self) -> bytes:
        self._alive = True
        progress = self._in_progress()
        return self._send({**progress, "type": "response.created"}, progress)

    def _in_progress(self) -> JsonObject:
        response = items.response(self._request, "in_progress")
        return {"type": "response.in_progress", "response": response}

    def _finish(self, end: ReplyEnd) -> bytes:
        status = items.status_of(end.finish)
        # An empty reply is an empty message: something the client can send back (KEEP-2).
        last = b"" if self._open or self._output else self._enter(MESSAGE)
        last += self._close(status)
        self._alive = False
        whole = items.response(self._request, status, self._output, end.usage)
        return last + self._send({"type": f"response.{status}", "response": whole})

    def _enter(self, kind: Kind) -> bytes:
        """Open an item of this kind, unless the open one is of it."""
        if isinstance(self._open, OpenText) and self._open.kind is kind:
            return b""
        return self._close("completed") + self._begin(OpenText(kind))

    def _begin(self, item: OpenItem) -> bytes:
        self._open = item
        return self._send(*item.added(len(self._output)))

    def _piece(self, text: str, logprobs: Sequence[JsonObject] = ()) -> bytes:
        assert self._open is not None
        return self._send(self._open.delta(len(self._output), text, logprobs))

    def _close(self, status: str) -> bytes:
        if self._open is None:
            return b""
        done = self._open.done(len(self._output), status)
        self._output.append(self._open.item(status))
        self._open = None
        return self._send(*done)

    def _send(self, *events: JsonObject) -> bytes:
        sent = b""
        for event in events:
            sent += sse.named({**event, "sequence_number": self._number})
            self._number += 1
        return sent
