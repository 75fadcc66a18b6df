"""A kept conversation: its meaning, its tokens in the engine, and the seams between its turns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from halogen_reference.conversation import Conversation
from halogen_reference.engine.protocol import State
from halogen_reference.prompt import Seam


class Position(NamedTuple):
    """A place in a conversation's tokens."""

    at: int
    """Tokens before it in the state."""
    counted: int
    """Tokens before it when every text is tokenised afresh: what usage reports.

    A reply's own tokens may spell its text in another way than the tokeniser would (FROM-9), so
    the two can differ; usage must equal that of a server that never saw the reply (FROM-6).
    """


@dataclass(frozen=True, slots=True)
class Kept:
    """A state under a name. The conversation's last item is the reply it ends with."""

    conversation: Conversation
    state: State
    seams: Mapping[Seam, Position]
    """Where each assistant turn starts and ends, the reply's end included."""

    @property
    def end(self) -> Position:
        """The end of the reply."""
        return self.seams[Seam(len(self.conversation.items) - 1, True)]
