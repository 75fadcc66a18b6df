"""What is measured: one history of about 1,100 tokens and short continuations of it."""

from dataclasses import dataclass

Message = dict[str, str]

_FACTS = (
    "reads its input one line at a time and hands on a record or an error",
    "keeps the last value where a key is given twice and logs the first",
    "is rebuilt every night from the files of the day before",
    "waits for the one before it and stops at the first failure",
    "counts what it could not read and reports the count at the end",
)

REPLY = "Every unit is described."
"""The reply in a history that no server has answered."""

STORY = "Now write a long story about {}. Begin at once."
LETTER = "Please compose a long letter about {}. Start right now."
"""Two ways of asking, different from the first word on."""

_SUBJECTS = (
    "the harbour at night",
    "a bridge of stone",
    "the old clock tower",
    "a garden in winter",
    "the mountain road",
    "a market in spring",
    "the library cellar",
    "a ship without a crew",
    "the house by the lake",
    "a letter from far away",
    "the last train home",
    "a field after rain",
    "the lighthouse keeper",
    "a city under snow",
    "the forgotten orchard",
    "a road through the forest",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of one measurement."""

    clients: int = 8
    """Continuations at once."""
    tokens: int = 32
    """Tokens of each reply."""
    sentences: int = 59
    """Sentences of the history, some 19 tokens each."""
    reply: int = 16
    """Tokens of the reply that the history ends with."""

    def cells(self) -> int:
        """KV cells for ``clients`` histories that share nothing, and as much again to spare."""
        return 512 * (1 + self.clients * (self.context // 512))

    @property
    def context(self) -> int:
        """Most tokens of one request, with room to spare."""
        return 512 * (1 + (24 * self.sentences + self.tokens + self.reply + 64) // 512)


def history(shape: Shape, variant: int = 0) -> list[Message]:
    """The opening of a conversation; two variants differ from the first word on."""
    sentences = (
        f"Unit {variant * 100 + number} {_FACTS[(number + variant) % len(_FACTS)]}."
        for number in range(shape.sentences)
    )
    return [{"role": "user", "content": f"System {variant} in full: " + " ".join(sentences)}]


def continuation(
    opening: list[Message], reply: str, client: int, asking: str = STORY
) -> list[Message]:
    """A history that repeats the opening and its reply and adds this client's message."""
    text = asking.format(_SUBJECTS[client % len(_SUBJECTS)])
    return [
        *opening,
        {"role": "assistant", "content": reply},
        {"role": "user", "content": text},
    ]
