"""From the engine's text to the parts of a reply."""

from collections.abc import Iterator

from halogen_reference.conversation import Assistant
from halogen_reference.reply import ReplyEvent, TextDelta, TokenLogprob


class ReplyParser:
    """Fed with released text, yields reply events; :meth:`assistant` is the reply as one item."""

    def __init__(self) -> None:
        self._text: list[str] = []

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> Iterator[ReplyEvent]:
        """Add released text; yields the events it completes."""
        self._text.append(text)
        yield TextDelta(text, logprobs)

    def assistant(self) -> Assistant:
        """What the client was sent, as the item it will send back."""
        return Assistant("".join(self._text))
