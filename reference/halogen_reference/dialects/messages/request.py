"""A Messages request body as a :class:`MessagesRequest`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from halogen_reference.call import Call, ChoiceMode, Opening, ToolChoice
from halogen_reference.conversation import Item, System, Tool, conversation
from halogen_reference.dialects.content import texts
from halogen_reference.dialects.continuation import continued
from halogen_reference.dialects.dialect import Request
from halogen_reference.dialects.failure import THREAD_NOT_FOUND
from halogen_reference.dialects.fields import Fields, read_body
from halogen_reference.dialects.ids import new_id
from halogen_reference.dialects.messages.attribution import without_attribution
from halogen_reference.dialects.messages.history import TEXT_BLOCKS, read_messages
from halogen_reference.dialects.model import ModelCheck, read_model
from halogen_reference.dialects.sampling import read_sampling
from halogen_reference.dialects.tools import any_call, distinct, named_call, read_tool
from halogen_reference.errors import invalid

_MOST_STOPS = 16
_LEAST_BUDGET = 1024
_THINKING = ("enabled", "adaptive", "disabled", "between_tools")
_CHOICES = ("auto", "any", "none", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesRequest(Request):
    """A call and the id of its answer."""

    id: str = field(default_factory=lambda: new_id("msg_"))


def parse(body: bytes, *, check_model: ModelCheck | None = None) -> MessagesRequest:
    """Read a request body. Raises RequestError 400, or what ``check_model`` raises."""
    fields, model = _checked(body, check_model)
    return _request(fields, model, fields.need_integer("max_tokens", 0))


def parse_count(body: bytes, *, check_model: ModelCheck | None = None) -> MessagesRequest:
    """Read a ``count_tokens`` body: the same prompt, without the fields about its reply."""
    return _request(*_checked(body, check_model), None)


def _checked(body: bytes, check_model: ModelCheck | None) -> tuple[Fields, str]:
    fields = read_body(body)
    model = read_model(fields, check_model)
    _refuse_thread(fields)
    return fields, model


def _refuse_thread(body: Fields) -> None:
    """P17: a fragment must not be answered as if it were the whole conversation.

    Claude Code knows these words, the SDK this code; either sends the whole history instead.
    """
    thread = body.record("thread")
    if thread and thread.need_text("type") != "create":
        raise thread.fail(
            "type",
            "is refused: capability_rejected: beta_header:message-threads-2026-08-12. "
            "Send the whole history.",
            THREAD_NOT_FOUND,
        )


def _request(body: Fields, model: str, max_tokens: int | None) -> MessagesRequest:
    system = without_attribution(texts(body, "system", TEXT_BLOCKS))
    _check_format(body)
    thinking = _thinks(body, max_tokens)
    items, opening = _history(body, thinking)
    tools = distinct(_tools(body), body)
    history = conversation([System("\n".join(system)), *items], tools)
    if not history.items:
        raise body.fail("messages", "holds no text to reply to.")
    call = Call(
        model=model,
        conversation=history,
        opening=opening,
        sampling=read_sampling(body),
        max_tokens=max_tokens,
        stop=body.strings("stop_sequences", _MOST_STOPS) or (),
        tool_choice=_tool_choice(body, tools),
        stream=body.flag("stream") or False,
    )
    return MessagesRequest(call=call, user_id=_user_id(body))


def _history(body: Fields, thinking: bool) -> tuple[list[Item], Opening]:
    """BRANCH-2: a final assistant message is where the reply begins."""
    messages = body.need_records("messages")
    items = read_messages(messages)
    if messages[-1].data["role"] != "assistant":
        return items, Opening.REPLY
    if thinking:
        raise invalid(
            "messages ends with an assistant message, which cannot be continued with thinking "
            "enabled. Disable thinking or end with a user message.",
            "messages",
        )
    return continued(items, "messages")


def _thinks(body: Fields, max_tokens: int | None) -> bool:
    """Whether thinking is enabled explicitly. What a model does by itself is not asked here."""
    thinking = body.record("thinking")
    if thinking is None or thinking.need_one_of("type", _THINKING) != "enabled":
        return False
    budget = thinking.need_integer("budget_tokens", _LEAST_BUDGET)
    if max_tokens is not None and budget >= max_tokens:
        raise thinking.fail("budget_tokens", "must be less than max_tokens.")
    return True


def _tools(body: Fields) -> list[Tool]:
    """The client's own tools. Those with another type run on a vendor's servers: not here."""
    return [
        read_tool(tool, "input_schema")
        for tool in body.records("tools") or ()
        if (tool.text("type") or "custom") == "custom"
    ]


def _tool_choice(body: Fields, tools: Sequence[Tool]) -> ToolChoice:
    choice = body.record("tool_choice")
    if choice is None:
        return ToolChoice()
    parallel = choice.flag("disable_parallel_tool_use") is not True
    return replace(_calls_allowed(choice, tools), parallel=parallel)


def _calls_allowed(choice: Fields, tools: Sequence[Tool]) -> ToolChoice:
    match choice.need_one_of("type", _CHOICES):
        case "none":
            return ToolChoice(ChoiceMode.NONE)
        case "any":
            return any_call(choice, "type", tools)
        case "tool":
            return named_call(choice, tools)
    return ToolChoice()


def _user_id(body: Fields) -> str:
    metadata = body.record("metadata")
    return (metadata.text("user_id") if metadata else None) or ""


def _check_format(body: Fields) -> None:
    """A format is taken and not enforced: Claude Code asks for one in its title requests."""
    config = body.record("output_config")
    if config is not None:
        config.record("format")
