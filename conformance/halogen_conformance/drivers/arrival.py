"""Which events of a stream bring a piece of the reply: what a first token is measured by."""

from halogen_conformance.drivers.reading import items, mapping, parse_json
from halogen_conformance.drivers.sse import SseEvent

_BRINGS = ("content", "tool_calls", "reasoning_content", "reasoning")
"""Fields of a Chat delta that hold something a reader or a program waits for."""


def brings_text(route: str, event: SseEvent) -> bool:
    """Text, reasoning or tool arguments arrive with this event, not only the frame around them.

    An event that cannot be read brings nothing: what is wrong with it, the fold says.
    """
    if event.data is None:
        return False
    if route == "messages":
        return event.name == "content_block_delta"
    if route == "responses":
        return event.name is not None and event.name.endswith(".delta")
    if event.is_done:
        return False
    try:
        choices = items(mapping(parse_json(event.data)).get("choices"))
    except ValueError:
        return False
    deltas = [mapping(mapping(choice).get("delta")) for choice in choices]
    return any(delta.get(key) for delta in deltas for key in _BRINGS)
