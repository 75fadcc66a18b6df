"""A Responses request body as a :class:`ResponsesRequest`."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant, Item, System, conversation
from halogen_reference.dialects.continuation import continued
from halogen_reference.dialects.dialect import Request
from halogen_reference.dialects.fields import Fields, JsonObject, canonical_field, quote, read_body
from halogen_reference.dialects.ids import new_id
from halogen_reference.dialects.model import ModelCheck, read_model
from halogen_reference.dialects.responses.history import read_input
from halogen_reference.dialects.responses.namespaces import Namespaces
from halogen_reference.dialects.responses.tools import read_tool_choice, read_tools
from halogen_reference.dialects.sampling import MOST_TOP_LOGPROBS, read_sampling, read_stop

_MOST_STOPS = 4
_WITH_LOGPROBS = "message.output_text.logprobs"
_MOST_INCLUDES = 32
_STATEFUL = {
    "conversation": "Send the whole history in input.",
    "prompt": "Send the prompt's text in instructions or input.",
}
_DEFAULTS: JsonObject = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "reasoning": {"effort": None, "summary": None},
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
}
"""What the answer says of a setting the request leaves out. Others are repeated as sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesRequest(Request):
    """A call, and what its answer repeats."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """The request's own settings as the response object repeats them."""
    namespaces: Namespaces = field(default_factory=dict)
    id: str = field(default_factory=lambda: new_id("resp_"))
    created_at: int = field(default_factory=lambda: int(time.time()))


def parse(body: bytes, *, check_model: ModelCheck | None = None) -> ResponsesRequest:
    """Read a request body. Raises RequestError 400, 404, or what ``check_model`` raises."""
    fields = read_body(body)
    model = read_model(fields, check_model)
    _refuse_stored(fields)
    _refuse_unsupported(fields)
    tools, namespaces = read_tools(fields)
    items, opening = _opening(read_input(fields))
    history = conversation([System(fields.text("instructions") or ""), *items], tools)
    if not history.items:
        raise fields.fail("input", "holds no text to reply to.")
    call = Call(
        model=model,
        conversation=history,
        opening=opening,
        sampling=read_sampling(fields, _logprobs(fields)),
        max_tokens=fields.integer("max_output_tokens", 1),
        stop=read_stop(fields, "stop", _MOST_STOPS),
        tool_choice=read_tool_choice(fields, tools),
        stream=fields.flag("stream") or False,
    )
    return ResponsesRequest(call=call, settings=_settings(fields), namespaces=namespaces)


def _opening(items: list[Item]) -> tuple[list[Item], Opening]:
    """BRANCH-3: a final assistant item is where the reply begins, whatever its status says."""
    if items and isinstance(items[-1], Assistant):
        return continued(items, "input")
    return items, Opening.REPLY


def _refuse_stored(body: Fields) -> None:
    """Nothing is stored under a response's id; P13: never accepted and then ignored."""
    previous = body.text("previous_response_id")
    if previous is not None:
        raise body.fail(
            "previous_response_id",
            f"names {quote(previous)}, but this server stores no responses. Send the whole history "
            "in input.",
            "previous_response_not_found",
        )
    for name, instead in _STATEFUL.items():
        if body.given(name):
            raise body.fail(name, f"is not supported: this server stores nothing. {instead}")
    if body.flag("background"):
        raise body.fail("background", "is not supported; leave it out or use stream.")


def _refuse_unsupported(body: Fields) -> None:
    body.one_of("truncation", ("auto", "disabled"))
    text = body.record("text")
    form = text.record("format") if text else None
    if form and (kind := form.need_text("type")) != "text":
        raise form.fail(
            "type", f"is {quote(kind)}; this server answers with plain text only ('text')."
        )


def _logprobs(body: Fields) -> int | None:
    top = body.integer("top_logprobs", 0, MOST_TOP_LOGPROBS)
    wanted = _WITH_LOGPROBS in (body.strings("include", _MOST_INCLUDES) or ())
    return (top or 0) if wanted or top else None


def _settings(body: Fields) -> JsonObject:
    for name in ("metadata", "reasoning"):
        body.record(name)
    repeated = {
        name: body.data[name] if body.given(name) else _DEFAULTS[name] for name in _DEFAULTS
    }
    canonical_field(repeated, "tools")  # what JSON cannot hold cannot be repeated either
    return repeated
