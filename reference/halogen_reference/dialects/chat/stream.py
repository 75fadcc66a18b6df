"""A streamed Chat Completions answer: chunks on ``data:`` lines, then ``[DONE]``."""

from halogen_reference.dialects import sse
from halogen_reference.dialects.chat import parts
from halogen_reference.dialects.chat.request import ChatRequest
from halogen_reference.dialects.fields import JsonObject
from halogen_reference.reply import (
    Admitted,
    CallDelta,
    CallStart,
    ReasoningDelta,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
    Usage,
)


class ChatStream:
    """See :class:`halogen_reference.dialects.dialect.Stream`."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._opened = False
        self._usages: dict[int, Usage] = {}

    def feed(self, event: ReplyEvent, choice: int = 0) -> bytes:
        match event:
            case Admitted():
                return self._open()
            case ReasoningDelta(text) if text and self._request.show_reasoning:
                return self._delta(choice, {"reasoning_content": text})
            case TextDelta(text, logprobs) if text or logprobs:
                if self._request.call.sampling.logprobs is None:
                    return self._delta(choice, {"content": text})
                return self._delta(choice, {"content": text}, logprobs=parts.logprobs(logprobs))
            case CallStart(index, call_id, name):
                # The id and the name once only: clients concatenate what they are sent.
                start: JsonObject = {
                    "index": index,
                    "id": f"call_{call_id}",
                    "type": "function",
                    "function": {"name": name, "arguments": ""},
                }
                return self._delta(choice, {"tool_calls": [start]})
            case CallDelta(index, arguments) if arguments:
                piece: JsonObject = {"index": index, "function": {"arguments": arguments}}
                return self._delta(choice, {"tool_calls": [piece]})
            case ReplyEnd(finish, usage):
                self._usages[choice] = usage
                return self._delta(choice, {}, finish_reason=parts.FINISH_REASONS[finish])
        return b""

    def keepalive(self) -> bytes:
        return sse.KEEPALIVE_COMMENT

    def failed(self, message: str) -> bytes:
        error = {"message": message, "type": "server_error", "code": None, "param": None}
        return sse.data({"error": error})

    def end(self) -> bytes:
        if not self._request.include_usage:
            return sse.DONE
        # Clients let each chunk's usage replace the one before, so it comes last.
        usages = [usage for _, usage in sorted(self._usages.items())]
        return sse.data({**self._frame(), "choices": [], "usage": parts.usage(usages)}) + sse.DONE

    def _open(self) -> bytes:
        """The first chunk of every choice, in index order whichever is admitted first.

        The openai SDK's accumulator fails when choice 1 is the first it hears of.
        """
        if self._opened:
            return b""
        self._opened = True
        choices = range(self._request.call.n)
        role: JsonObject = {"role": "assistant", "content": ""}
        opening = b"".join(self._delta(choice, role) for choice in choices)
        if echo := self._request.echo:
            opening += b"".join(self._delta(choice, {"content": echo}) for choice in choices)
        return opening

    def _frame(self) -> JsonObject:
        return {
            "id": self._request.id,
            "object": "chat.completion.chunk",
            "created": self._request.created,
            "model": self._request.call.model,
        }

    def _delta(
        self,
        choice: int,
        delta: JsonObject,
        *,
        logprobs: JsonObject | None = None,
        finish_reason: str | None = None,
    ) -> bytes:
        entry: JsonObject = {
            "index": choice,
            "delta": delta,
            "logprobs": logprobs,
            "finish_reason": finish_reason,
        }
        return sse.data({**self._frame(), "choices": [entry]})
