"""The pieces of JSON that whole answers and chunks of Chat Completions have in common."""

from collections.abc import Sequence

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.dialects.logprobs import token_logprobs
from halogen_reference.reply import Finish, TokenLogprob, Usage

FINISH_REASONS = {
    Finish.END_OF_TURN: "stop",
    Finish.STOP_STRING: "stop",
    Finish.LENGTH: "length",
    Finish.TOOL_CALLS: "tool_calls",
}


def usage(choices: Sequence[Usage]) -> JsonObject:
    """Token counts of a request: its one prompt, and the output of all choices."""
    prompt, cached = choices[0].prompt, choices[0].cached
    output = sum(choice.output for choice in choices)
    reasoning = sum(choice.reasoning for choice in choices)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def logprobs(tokens: Sequence[TokenLogprob]) -> JsonObject:
    """``choice.logprobs`` of Chat for these tokens of a reply's text."""
    return {"content": token_logprobs(tokens), "refusal": None}
