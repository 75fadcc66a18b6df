"""A Response object, whole or final, to a reply."""

from halogen_conformance.drivers.conversation import Call, Json
from halogen_conformance.drivers.reading import Notes, items, mapping, text, text_or_none
from halogen_conformance.drivers.reply import Finish, Reply, WireError
from halogen_conformance.drivers.usage import FINISH_WORDS, openai_usage


def read_response(response: dict[str, Json], notes: Notes) -> Reply:
    """Notes go to ``notes``; the reply returned carries none itself."""
    texts, thoughts, calls = [], [], []
    for entry in items(response.get("output")):
        item = mapping(entry)
        kind = item.get("type")
        if kind == "message":
            texts.append(message_text(item))
        elif kind == "reasoning":
            thoughts.append(reasoning_text(item))
        elif kind == "function_call":
            calls.append(function_call(item))
            split = item.get("id") is None or item.get("id") != item.get("call_id")
            notes.add_unless(split, "output[].call_id", "must differ from the item's id")
    status = text_or_none(response.get("status"))
    notes.add_unless(status is not None, "status", "missing")
    failure = mapping(response.get("error"))
    error = None
    if status == "failed" or failure:
        error = WireError(
            text(failure.get("code")),
            text(failure.get("message")),
            text_or_none(failure.get("code")),
            in_band=True,
        )
    return Reply(
        "".join(texts),
        "".join(thoughts),
        tuple(calls),
        _finish(status, bool(calls)),
        _word(status, response),
        usage=openai_usage(response.get("usage"), "usage", notes, "input_tokens"),
        id=text_or_none(response.get("id")),
        model=text_or_none(response.get("model")),
        error=error,
    )


def _finish(status: str | None, called: bool) -> Finish | None:
    if status is None:
        return None
    if status == "completed" and called:
        return Finish.TOOL_CALLS
    return FINISH_WORDS["responses"].get(status, Finish.OTHER)


def _word(status: str | None, response: dict[str, Json]) -> str | None:
    reason = text(mapping(response.get("incomplete_details")).get("reason"))
    return f"{status}: {reason}" if status == "incomplete" and reason else status


def message_text(item: dict[str, Json]) -> str:
    """The text of a ``message`` item: its ``output_text`` parts, joined."""
    parts = [mapping(part) for part in items(item.get("content"))]
    return "".join(text(part.get("text")) for part in parts if part.get("type") == "output_text")


def reasoning_text(item: dict[str, Json]) -> str:
    """The text of a ``reasoning`` item: its summary's parts and its content's, joined."""
    parts = [*items(item.get("summary")), *items(item.get("content"))]
    return "".join(text(mapping(part).get("text")) for part in parts)


def function_call(item: dict[str, Json]) -> Call:
    """The call of a ``function_call`` item, its arguments as the JSON text that was sent."""
    return Call(text(item.get("call_id")), text(item.get("name")), text(item.get("arguments")))
