"""What the users talk about: seeded text of a given length, and words that mark who was told."""

import random

from halogen_conformance.drivers.conversation import Conversation

_TEXT = """
the river runs past an old stone mill where people once ground their corn and now a small museum
shows how water turned the wheel while children watch it from the bridge in summer and the miller
tells of floods that came each spring before the dam was built up in the hills
"""
_WORDS = _TEXT.split()
_WORDS_A_TOKEN = 0.9
"""Short English words: most of them are one token, their marks and turns are further ones."""

COUNT = "1, 2, 3, 4, 5, 6, 7, 8,"
"""A count that was begun: models go on with it for as long as they may."""


def filler(rng: random.Random, tokens: int) -> str:
    """Sentences of about so many tokens in all."""
    words = [rng.choice(_WORDS) for _ in range(max(4, round(tokens * _WORDS_A_TOKEN)))]
    return " ".join(words).capitalize() + "."


def marker(rng: random.Random) -> str:
    """A word that nothing but having been told it can bring into a reply."""
    letters = "bcdfghjklmnpqrstvwxz"
    return "".join(rng.choice(letters) for _ in range(5)) + str(rng.randrange(100, 1000))


def history(rng: random.Random, depth: int, tokens: int) -> Conversation:
    """A system text and ``depth`` turns, the last of them a question without its answer."""
    share = max(4, tokens // (2 * depth))
    story = Conversation().system(f"You are a guide. {filler(rng, share)}")
    for _ in range(depth - 1):
        story = story.user(filler(rng, share)).assistant(filler(rng, share))
    return story.user(f"{filler(rng, share)} What do you say to that?")
