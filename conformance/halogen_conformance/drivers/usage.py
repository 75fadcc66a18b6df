"""Two tables in which the routes differ: what usage counts, and the words for a reply's end."""

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.reading import Notes, count, mapping
from halogen_conformance.drivers.reply import Finish, Usage

FINISH_WORDS: dict[str, dict[str, Finish]] = {
    "chat": {
        "stop": Finish.END,
        "length": Finish.LENGTH,
        "tool_calls": Finish.TOOL_CALLS,
    },
    "messages": {
        "end_turn": Finish.END,
        "stop_sequence": Finish.STOP_STRING,
        "max_tokens": Finish.LENGTH,
        "model_context_window_exceeded": Finish.LENGTH,
        "tool_use": Finish.TOOL_CALLS,
    },
    "responses": {
        "completed": Finish.END,
        "incomplete": Finish.LENGTH,
        "failed": Finish.FAILED,
    },
}
"""Route, then its own word, to the reason. Responses has TOOL_CALLS added by its driver."""

_OPENAI_KEYS = {
    "prompt_tokens": ("completion_tokens", "prompt_tokens_details"),
    "input_tokens": ("output_tokens", "input_tokens_details"),
}


def openai_usage(
    value: Json, where: str, notes: Notes, prompt_key: str = "prompt_tokens"
) -> Usage | None:
    """Usage of Chat (``prompt_tokens``) or Responses (``input_tokens``): the prompt count is the
    whole history, the cached part is listed in its details (absent details: nothing cached)."""
    if value is None:
        return None
    usage = mapping(value)
    output_key, details_key = _OPENAI_KEYS[prompt_key]
    prompt, output = count(usage.get(prompt_key)), count(usage.get(output_key))
    if prompt is None or output is None:
        notes.add(where, f"needs whole numbers {prompt_key} and {output_key}")
        return None
    return _checked(Usage(prompt, _cached(usage.get(details_key)), output), where, notes)


def anthropic_usage(value: Json, where: str, notes: Notes) -> Usage | None:
    """Usage of Messages: ``input_tokens`` leaves out what was read from or written to a cache, so
    the whole history is the sum of the three; only what was read counts as cached."""
    if value is None:
        return None
    usage = mapping(value)
    fresh, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if fresh is None or output is None:
        notes.add(where, "needs whole numbers input_tokens and output_tokens")
        return None
    read = count(usage.get("cache_read_input_tokens")) or 0
    written = count(usage.get("cache_creation_input_tokens")) or 0
    return Usage(fresh + read + written, read, output)


def _cached(details: Json) -> int:
    return count(mapping(details).get("cached_tokens")) or 0


def _checked(usage: Usage, where: str, notes: Notes) -> Usage:
    notes.add_unless(
        usage.cached <= usage.prompt,
        where,
        f"{usage.cached} cached tokens of a prompt of {usage.prompt}",
    )
    return usage
