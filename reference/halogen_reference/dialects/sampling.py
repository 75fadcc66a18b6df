"""Sampling fields. All three routes read the same ones, under the same names and ranges.

Some are no part of a route's public API (``seed`` on Messages, ``top_k`` on Chat Completions). They
are accepted everywhere: clients reach them through their SDK's ``extra_body``.
"""

from halogen_reference.call import Sampling
from halogen_reference.dialects.fields import Fields, kind_of

MOST_TOP_LOGPROBS = 20
"""Alternatives a client may ask for at each token."""

_SEED_LOW, _SEED_HIGH = -(2**63), 2**64 - 1
_LONGEST_TOKEN_ID = 9

_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "min_p": (0, 1),
    "repetition_penalty": (0.01, 10),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}


def read_sampling(body: Fields, logprobs: int | None = None) -> Sampling:
    """``logprobs``: alternatives to report for each token, None for no log probabilities."""
    numbers = {
        name: value
        for name, (low, high) in _RANGES.items()
        if name in body.data and (value := body.number(name, low, high)) is not None
    }
    return Sampling(
        **numbers,
        # Other servers read -1 as "the whole vocabulary"; 0 is our spelling of it.
        top_k=max(0, body.integer("top_k", -1) or 0),
        seed=body.integer("seed", _SEED_LOW, _SEED_HIGH),
        logit_bias=_logit_bias(body),
        logprobs=logprobs,
    )


def read_stop(body: Fields, name: str, most: int) -> tuple[str, ...]:
    """Stop strings, at most ``most``: one string is a list of one."""
    value = body.data.get(name)
    if isinstance(value, str):
        return (body.need_name(name),)
    if value is not None and not isinstance(value, list):
        raise body.fail(name, f"must be a string or an array of strings, not {kind_of(value)}.")
    return body.strings(name, most) or ()


def _logit_bias(body: Fields) -> tuple[tuple[int, float], ...]:
    """Whether an id is in the vocabulary only the engine's owner can tell."""
    biases = body.record("logit_bias")
    if biases is None:
        return ()
    read = []
    for token in biases.data:
        if not (token.isascii() and token.isdigit() and len(token) <= _LONGEST_TOKEN_ID):
            raise body.fail("logit_bias", "must be keyed by token ids, such as '50256'.")
        bias = biases.number(token, -100, 100)
        if bias is None:
            null = kind_of(None)
            raise biases.fail(token, f"must be a number from -100 to 100, not {null}.")
        read.append((int(token), bias))
    return tuple(read)
