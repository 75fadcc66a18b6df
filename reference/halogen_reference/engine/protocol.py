"""What the server asks of an engine, with two implementations: llama.cpp, and one without a model.

An engine turns a token prompt into text. It can start from a :class:`State` it handed out earlier
without evaluating those tokens again, and hands out the state at the end of a reply when asked.
All methods are called from one event loop.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from halogen_reference.call import Opening, Sampling, ToolChoice
from halogen_reference.conversation import Conversation, Tool
from halogen_reference.prompt import Prompt
from halogen_reference.reply import Finish, TokenLogprob


class State(Protocol):
    """Evaluated tokens the engine holds. Immutable, shared, and counted.

    The receiver of a state owns one reference. :meth:`retain` adds one, :meth:`release` gives one
    back; the memory goes with the last. A job keeps its own reference to the state it starts from
    until it no longer needs it, so a name may be released while its state is in use (LIFE-6).
    """

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens this state stands for. The last few may still have to be evaluated."""

    @property
    def size(self) -> int:
        """Bytes this state would take alone."""

    def retain(self) -> "State": ...

    def release(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Job:
    """One reply to generate."""

    tokens: Sequence[int]
    """The whole prompt."""
    start: State | None = None
    reuse: int = 0
    """The first ``reuse`` tokens of the prompt are the first ``reuse`` tokens of ``start``."""
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int = 1
    """Tokens to generate at most; the prompt and these fit the context."""
    stop: tuple[str, ...] = ()
    last: str = ""
    """Text that ends the turn once it is complete, and stays part of the reply."""
    keep: bool = False
    """Hand over the state at the end of the reply (:attr:`Done.state`)."""
    streamed: bool = True
    """False: nobody reads the text before its end, it may come in large pieces."""
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)


@dataclass(frozen=True, slots=True)
class Started:
    """The job has left the queue and its memory is granted."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text released to the client: whole characters, never part of a stop string."""

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the reply.

    ``state`` ends exactly where the released text ends; the receiver owns its reference. It is
    None unless the job asked for it.
    """

    finish: Finish
    evaluated: int
    """Prompt tokens really evaluated for this job (FROM-7)."""
    output: int
    """Tokens generated, the end-of-turn token not counted."""
    stop_string: str | None = None
    state: State | None = None


EngineEvent = Started | Text | Done


class QueueTimeout(Exception):
    """The job waited longer than the queue allows and was never started."""


class EngineFailed(Exception):
    """The engine could not go on with this job. Other jobs and states are as they were."""


class StateRejected(Exception):
    """Bytes given to :meth:`Engine.restore` are not a state of this engine."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Memory and load, for people and for ``/metrics``. Cells hold one token each."""

    cells: int
    used: int
    shared: int
    """Cells held by more than one sequence, each counted once."""
    running: int
    waiting: int


class Template(Protocol):
    """The model's chat template: what a conversation looks like as text to the model."""

    def render(self, conversation: Conversation, opening: Opening) -> Prompt:
        """The prompt for a reply. Raises RequestError 400 when the model cannot read it."""


class Engine(Protocol):
    """See the module's docstring. ``submit`` yields Started, Text*, Done.

    Closing the iterator early (``aclose``) cancels that job and nothing else.
    """

    @property
    def model_id(self) -> str: ...

    @property
    def context(self) -> int:
        """Most tokens a prompt and its reply may have together."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens there are: ids run from 0 to one less."""

    @property
    def template(self) -> Template:
        """Renders conversations the way this model reads them."""

    @property
    def fingerprint(self) -> str:
        """Identifies model and settings: states move only between equal fingerprints."""

    def encode(self, text: str, special: bool) -> Sequence[int]:
        """Tokenise. With ``special``, control tokens spelled in the text are recognised."""

    def piece(self, token: int) -> bytes:
        """The bytes a token adds to the text; control tokens add none."""

    def submit(self, job: Job) -> AsyncGenerator[EngineEvent]:
        """Queue a job in arrival order. Raises QueueTimeout before Started, EngineFailed after."""

    async def export(self, state: State) -> bytes | bytearray:
        """The state's memory as bytes, for a file."""

    async def restore(self, tokens: Sequence[int], data: bytes) -> State:
        """The opposite of :meth:`export`. Raises StateRejected, EngineFailed when full."""

    def pool(self) -> Pool: ...

    def on_pressure(self, release_one: "ReleaseOne") -> None:
        """Register what gives up one kept state when the pool is full; False when none is left."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class ReleaseOne(Protocol):
    """Gives up one kept state to make room in the pool; False when none is left."""

    def __call__(self) -> bool: ...
