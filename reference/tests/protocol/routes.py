"""What the tests need to know of each route: how to ask, and how to read what comes back."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Turn = tuple[str, str]
"""A role (system, user, assistant) and its text."""
History = Sequence[Turn]
Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One reply, whatever route it came by. ``finish`` is ``end`` or ``length``."""

    text: str
    finish: str
    prompt: int
    cached: int
    output: int


class Route(Protocol):
    name: str
    path: str

    def body(self, history: History, *, partial: str | None, stream: bool, **extra: Any) -> Json:
        """A request body. ``extra`` fields are named as on Chat Completions."""

    def whole(self, body: Json) -> Reply: ...

    def streamed(self, events: Iterable[Json]) -> Reply: ...

    def error(self, body: Json) -> str:
        """The message of an error body. Raises AssertionError when it has another shape."""


class Chat:
    """``/v1/chat/completions``"""

    name = "chat"
    path = "/v1/chat/completions"

    def body(self, history: History, *, partial: str | None, stream: bool, **extra: Any) -> Json:
        messages = [{"role": role, "content": text} for role, text in history]
        body: Json = {"model": "any", "messages": messages, "temperature": 0, "max_tokens": 6}
        if partial is not None:
            messages.append({"role": "assistant", "content": partial})
            body["continue_final_message"] = True
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {**body, **extra}

    def whole(self, body: Json) -> Reply:
        choice = body["choices"][0]
        return _chat_reply(choice["message"]["content"], choice["finish_reason"], body["usage"])

    def streamed(self, events: Iterable[Json]) -> Reply:
        text, finish, usage = "", None, None
        for event in events:
            assert "error" not in event, event
            for choice in event["choices"]:
                if choice["index"] == 0:
                    text += choice["delta"].get("content") or ""
                    finish = choice["finish_reason"] or finish
            usage = event.get("usage") or usage
        assert finish and usage, "the stream ended without its end"
        return _chat_reply(text, finish, usage)

    def error(self, body: Json) -> str:
        assert set(body) == {"error"}, body
        error = body["error"]
        assert set(error) == {"message", "type", "param", "code"}, body
        assert isinstance(error["type"], str) and isinstance(error["message"], str), body
        return str(error["message"])


def _chat_reply(text: str, finish: str, usage: Json) -> Reply:
    return Reply(
        text=text,
        finish={"stop": "end", "length": "length"}[finish],
        prompt=usage["prompt_tokens"],
        cached=usage["prompt_tokens_details"]["cached_tokens"],
        output=usage["completion_tokens"],
    )


ROUTES: dict[str, Route] = {route.name: route for route in (Chat(),)}


def sse(lines: Iterable[str]) -> list[Json]:
    """The events of a stream by their ``data:`` lines; ``[DONE]`` must be the last, once."""
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    if "[DONE]" in data:
        assert data.index("[DONE]") == len(data) - 1, "events after [DONE]"
        data.pop()
    return [json.loads(text) for text in data]
