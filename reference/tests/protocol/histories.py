"""Conversations to have. What a model says to them is never expected, only compared."""

from tests.protocol.routes import Turn

SYSTEM = "You keep a lighthouse in the north. Answer in one short sentence."

# Small models end these replies of their own accord, within 40 tokens.
SOON_OVER = ("Hi", "Say only the word cat.", "What is 1+1?", "Say hi.")


def asking(text: str, system: str = SYSTEM) -> tuple[Turn, ...]:
    """A conversation of one question."""
    return (("system", system), ("user", text))


# A reply that goes on from here does so for as long as it may: the next number always follows.
COUNTING = asking("Count.")
ONE_TWO = "1, 2, 3, 4, 5, 6, 7, 8,"
