"""A whole Messages answer."""

from collections.abc import Iterable, Sequence

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.fold import CallPart, Part, ReasoningPart, fold
from halogen_reference.dialects.messages import parts
from halogen_reference.dialects.messages.arguments import ObjectText
from halogen_reference.dialects.messages.request import MessagesRequest
from halogen_reference.reply import ReplyEvent, TextDelta


def reply(request: MessagesRequest, choices: Sequence[Iterable[ReplyEvent]]) -> JsonObject:
    """The answer's body, from the one choice's whole run of events."""
    (events,) = choices
    # This route shows no log probabilities, and a delta with nothing else is no block.
    whole = fold(event for event in events if not _silent(event))
    return parts.message(
        request,
        parts.usage(whole.usage, whole.usage.output),
        [_block(part) for part in whole.parts],
        parts.STOP_REASONS[whole.finish],
        whole.stop_string,
    )


def count_reply(tokens: int) -> JsonObject:
    """The answer to ``count_tokens``."""
    return {"input_tokens": tokens}


def _silent(event: ReplyEvent) -> bool:
    return isinstance(event, TextDelta) and not event.text


def _block(part: Part) -> JsonObject:
    if isinstance(part, CallPart):
        return parts.tool_use(part.id, part.name, _input(part))
    if isinstance(part, ReasoningPart):
        return parts.thinking(part.text, parts.SIGNATURE)
    return parts.text(part.text)


def _input(call: CallPart) -> JsonObject:
    """The same object a client of the stream ends up with, piece by piece."""
    arguments = ObjectText()
    for piece in call.pieces:
        arguments.feed(piece)
    arguments.finish()
    return arguments.value()
