"""Texts that stand for others: words without meaning."""

from hashlib import blake2b
from random import Random

WORDS = (
    *("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet"),
    *("jade", "knoll", "larch", "maple", "north", "ocean", "prism", "quartz", "ridge"),
    *("slate", "thorn", "umber", "vale", "willow", "xenon", "yarrow", "zephyr"),
)
SHORTEST = 8
"""Characters. A shorter text becomes this long, so that different texts stay different."""


def words(rng: Random, mean: int) -> str:
    """A sentence of about ``mean`` words."""
    count = max(2, round(mean * rng.uniform(0.5, 1.5)))
    return " ".join(rng.choice(WORDS) for _ in range(count)) + "."


def standing_for(text: str, salt: bytes) -> str:
    """As long as the text (but see SHORTEST), the same for the same text, and without the salt
    nothing can be told of what it was."""
    length = max(len(text), SHORTEST)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), key=salt, digest_size=16)
    rng = Random(digest.digest())
    # A tag first: a word or two alone would be alike too often.
    pieces, size = [digest.hexdigest()[:SHORTEST]], SHORTEST
    while size < length:
        pieces.append(rng.choice(WORDS))
        size += len(pieces[-1]) + 1
    return " ".join(pieces)[:length].rstrip(" ").ljust(length, ".")
