"""Is a difference between two greedy replies a rounding error?

Where two tokens are all but equally likely, a real model's choice may hang on the order in which an
engine adds up floating-point numbers, and that on where in its memory the history lies. Measured on
the packaged model: up to 0.27 in a token's log-probability. A wrong state gives other replies by
far more. An engine without log-probabilities gets no such excuse.
"""

from typing import Any

from tests.protocol.routes import Chat, History
from tests.protocol.server import Server

CLOSE = 0.5
"""Difference of two log-probabilities that a rounding error may turn round."""


def near_tie(
    server: Server, history: History, one: str, two: str, *, partial: str | None, **how: Any
) -> bool:
    """Whether both replies begin alike and part at a token where either was likely enough."""
    fields = {**how, "logprobs": True, "top_logprobs": 5}
    body = Chat().body(history, partial=partial, stream=False, **fields)
    # Follow the model along what the replies have in common, as far as it goes that way by itself.
    answer = server.http.post(Chat.path, json=body).json()
    so_far = ""
    for token in (answer["choices"][0]["logprobs"] or {}).get("content", []):
        chosen = so_far + token["token"]
        if one.startswith(chosen) and two.startswith(chosen):
            so_far = chosen
            continue
        likely = {other["token"]: other["logprob"] for other in token["top_logprobs"]}
        return all(
            any(
                text.startswith(so_far + other) and token["logprob"] - logprob < CLOSE
                for other, logprob in likely.items()
            )
            # A reply that ended here chose the end of the turn, which has no text.
            or (text == so_far and token["logprob"] - likely.get("", -99) < CLOSE)
            for text in (one, two)
        )
    return False
