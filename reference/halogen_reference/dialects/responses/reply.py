"""A whole Responses answer."""

from collections.abc import Iterable, Sequence

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.fold import CallPart, Folded, Part, ReasoningPart, TextPart, fold
from halogen_reference.dialects.ids import new_id
from halogen_reference.dialects.logprobs import token_logprobs
from halogen_reference.dialects.responses import items
from halogen_reference.dialects.responses.request import ResponsesRequest
from halogen_reference.reply import ReplyEvent


def reply(request: ResponsesRequest, choices: Sequence[Iterable[ReplyEvent]]) -> JsonObject:
    """The answer's body, from the one choice's whole run of events."""
    (events,) = choices
    whole = fold(events)
    status = items.status_of(whole.finish)
    return items.response(request, status, _output(request, whole, status), whole.usage)


def _output(request: ResponsesRequest, whole: Folded, status: str) -> list[JsonObject]:
    """An empty reply is an empty message: something the client can send back (KEEP-2)."""
    parts = whole.parts or [TextPart()]
    before = [_item(request, part, "completed") for part in parts[:-1]]
    return [*before, _item(request, parts[-1], status)]


def _item(request: ResponsesRequest, part: Part, status: str) -> JsonObject:
    if isinstance(part, CallPart):
        status = "completed" if part.complete else "incomplete"
        return items.function_call(request, part.id, part.name, part.arguments, status)
    if isinstance(part, ReasoningPart):
        return items.reasoning(new_id("rs_"), status, [items.reasoning_text(part.text)])
    text = items.output_text(part.text, token_logprobs(part.logprobs))
    return items.message(new_id("msg_"), status, [text])
