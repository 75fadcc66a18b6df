"""A Chat Completions request body as a :class:`ChatRequest`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from halogen_reference.call import Call, ChoiceMode, Opening, ToolChoice
from halogen_reference.conversation import Assistant, Item, Tool, conversation
from halogen_reference.dialects.chat.history import read_messages
from halogen_reference.dialects.continuation import continued
from halogen_reference.dialects.dialect import Request
from halogen_reference.dialects.fields import Fields, quote, read_body
from halogen_reference.dialects.ids import new_id
from halogen_reference.dialects.model import ModelCheck, read_model
from halogen_reference.dialects.sampling import MOST_TOP_LOGPROBS, read_sampling, read_stop
from halogen_reference.dialects.tools import (
    allowed_calls,
    any_call,
    distinct,
    named_call,
    read_tool,
)

_MOST_CHOICES = 16
_MOST_STOPS = 4
_LEGACY = {"functions": "tools", "function_call": "tool_choice"}
_WORD_CHOICES = ("none", "auto", "required")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest(Request):
    """A call, and what its answer repeats or leaves out."""

    echo: str = ""
    """The continued text, to be put before the new one (extension ``echo``)."""
    include_usage: bool = False
    show_reasoning: bool = True
    id: str = field(default_factory=lambda: new_id("chatcmpl-"))
    created: int = field(default_factory=lambda: int(time.time()))


def parse(body: bytes, *, check_model: ModelCheck | None = None) -> ChatRequest:
    """Read a request body. Raises RequestError 400, or what ``check_model`` raises."""
    fields = read_body(body)
    model = read_model(fields, check_model)
    _refuse_unsupported(fields)
    messages = fields.need_records("messages")
    items, opening = _opening(fields, messages, read_messages(messages))
    tools = distinct([_tool(tool) for tool in fields.records("tools") or ()], fields)
    history = conversation(items, tools)
    if not history.items:
        raise fields.fail("messages", "holds no text to reply to.")
    stream = fields.flag("stream") or False
    call = Call(
        model=model,
        conversation=history,
        opening=opening,
        sampling=read_sampling(fields, _logprobs(fields)),
        max_tokens=_max_tokens(fields),
        stop=read_stop(fields, "stop", _MOST_STOPS),
        tool_choice=_tool_choice(fields, tools),
        n=fields.integer("n", 1, _MOST_CHOICES) or 1,
        stream=stream,
    )
    return ChatRequest(
        call=call,
        echo=_echo(fields, call),
        include_usage=_include_usage(fields, stream),
        show_reasoning=fields.flag("include_reasoning") is not False,
    )


def _refuse_unsupported(body: Fields) -> None:
    for name, instead in _LEGACY.items():
        if body.given(name):
            raise body.fail(name, f"is a legacy field that is not supported; use {instead}.")
    answer = body.record("response_format")
    if answer and (kind := answer.need_text("type")) != "text":
        raise answer.fail(
            "type", f"is {quote(kind)}; this server answers with plain text only ('text')."
        )
    for kind in body.strings("modalities", most=8) or ():
        if kind != "text":
            raise body.fail("modalities", f"holds {quote(kind)}; this server speaks text only.")


def _opening(
    body: Fields, messages: Sequence[Fields], items: list[Item]
) -> tuple[list[Item], Opening]:
    prompt = body.flag("add_generation_prompt")
    if not body.flag("continue_final_message"):
        # Without the flag a final assistant message is a finished turn on this route.
        return items, Opening.BARE if prompt is False else Opening.REPLY
    if prompt:
        raise body.fail(
            "continue_final_message",
            "excludes add_generation_prompt: Cannot set both `continue_final_message` and "
            "`add_generation_prompt` to True.",
        )
    return _continued(messages[-1], items)


def _continued(message: Fields, items: list[Item]) -> tuple[list[Item], Opening]:
    """BRANCH-1: the reply goes on inside the final message."""
    last = items[-1]
    if not isinstance(last, Assistant):
        raise message.fail(
            "role",
            "must be 'assistant' in the last message when continue_final_message is true; "
            "that message is what the reply continues.",
        )
    if not last.calls and message.data.get("content") in (None, []):
        raise message.fail("content", "has no text to continue.")
    return continued(items, "messages")


def _max_tokens(body: Fields) -> int | None:
    """Both fields are checked; the newer one wins."""
    older = body.integer("max_tokens", 1)
    newer = body.integer("max_completion_tokens", 1)
    return older if newer is None else newer


def _logprobs(body: Fields) -> int | None:
    wanted = body.flag("logprobs")
    top = body.integer("top_logprobs", 0, MOST_TOP_LOGPROBS)
    if wanted:
        return top or 0
    if top is not None:
        raise body.fail("top_logprobs", "needs logprobs to be true.")
    return None


def _include_usage(body: Fields, stream: bool) -> bool:
    options = body.record("stream_options")
    if options is None:
        return False
    if not stream:
        raise body.fail("stream_options", "is only allowed when stream is true.")
    return options.flag("include_usage") or False


def _echo(body: Fields, call: Call) -> str:
    last = call.conversation.items[-1]
    wanted = body.flag("echo") and call.opening is Opening.CONTINUE
    return last.text if wanted and isinstance(last, Assistant) else ""


def _tool(tool: Fields) -> Tool:
    tool.need_one_of("type", ("function",))
    return read_tool(tool.need_record("function"), "parameters")


def _tool_choice(body: Fields, tools: Sequence[Tool]) -> ToolChoice:
    parallel = body.flag("parallel_tool_calls") is not False
    choice = _calls_allowed(body, tools)
    return choice if parallel else replace(choice, parallel=False)


def _calls_allowed(body: Fields, tools: Sequence[Tool]) -> ToolChoice:
    value = body.data.get("tool_choice")
    if value is None:
        return ToolChoice()
    if value == "none":
        return ToolChoice(ChoiceMode.NONE)
    if not tools:
        raise body.fail("tool_choice", "is only allowed when tools are given.")
    if isinstance(value, str):
        word = body.one_of("tool_choice", _WORD_CHOICES)
        return any_call(body, "tool_choice", tools) if word == "required" else ToolChoice()
    choice = body.need_record("tool_choice")
    if choice.need_one_of("type", ("function", "allowed_tools")) == "function":
        return named_call(choice.need_record("function"), tools)
    allowed = choice.need_record("allowed_tools")
    names = [
        entry.need_record("function").need_name("name") for entry in allowed.need_records("tools")
    ]
    return allowed_calls(allowed, names, tools)
