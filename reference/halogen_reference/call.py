"""What a request asks of the server, free of any route's JSON: the dialects' output."""

from dataclasses import dataclass, field
from enum import Enum

from halogen_reference.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. Defaults are those of the public APIs."""

    temperature: float = 1.0
    """0 is greedy: always the most likely token."""
    top_p: float = 1.0
    top_k: int = 0
    """0 keeps the whole vocabulary."""
    min_p: float = 0.0
    seed: int | None = None
    """None draws a fresh seed for each request."""
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    """Pairs of token id and bias added to its logit."""
    logprobs: int | None = None
    """None: no log probabilities. Otherwise how many alternatives to report, 0 to 20."""


class ChoiceMode(Enum):
    """Whether the reply may, must or must not call a tool."""

    NONE = "none"
    AUTO = "auto"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools the reply may or must call, and whether several at once."""

    mode: ChoiceMode = ChoiceMode.AUTO
    name: str | None = None
    """With REQUIRED: the one tool that must be called; None for any."""
    parallel: bool = True
    """False: at most one call in a reply."""


class Opening(Enum):
    """How the prompt ends, where the reply begins."""

    REPLY = "reply"
    """A new assistant turn is opened."""
    CONTINUE = "continue"
    """The last item is an assistant turn left open: the reply goes on inside it (BRANCH)."""
    BARE = "bare"
    """The history as it is, with no assistant turn opened (``add_generation_prompt: false``)."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a reply.

    With ``Opening.CONTINUE`` the last item of the conversation is an :class:`Assistant` with text
    and without calls; the dialects refuse everything else.
    """

    model: str
    conversation: Conversation
    opening: Opening = Opening.REPLY
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    """Most tokens to generate; None for the room left in the context."""
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)
    n: int = 1
    """How many replies to one prompt."""
    stream: bool = False
