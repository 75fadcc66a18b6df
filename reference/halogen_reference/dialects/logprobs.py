"""Log probabilities as both OpenAI routes spell them."""

from collections.abc import Sequence

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.reply import Candidate, TokenLogprob

_LEAST = -9999.0
"""Reported for a token that cannot be chosen: JSON has no infinity."""


def token_logprobs(tokens: Sequence[TokenLogprob]) -> list[JsonObject]:
    """One entry a token, its alternatives inside; natural logarithms."""
    return [
        {**_candidate(token.chosen), "top_logprobs": [_candidate(top) for top in token.top]}
        for token in tokens
    ]


def _candidate(token: Candidate) -> JsonObject:
    return {
        "token": token.token,
        "logprob": max(token.logprob, _LEAST),
        "bytes": list(token.bytes),
    }
