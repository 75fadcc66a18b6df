"""Asking the real engine, and everything it answered in one record."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from halogen_reference.call import Opening, Sampling
from halogen_reference.conversation import User, conversation
from halogen_reference.engine.llama.engine import LlamaEngine, Size
from halogen_reference.engine.llama.model import Model
from halogen_reference.engine.protocol import Done, Job, Pool, Started, State, Text
from halogen_reference.reply import TokenLogprob
from halogen_reference.settings import packaged_model

GREEDY = Sampling(temperature=0)


@dataclass
class Answer:
    done: Done
    texts: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def state(self) -> State:
        assert self.done.state is not None
        return self.done.state


def make_engine(*, context: int, pool: int, slots: int, queue_timeout: float = 60) -> LlamaEngine:
    """The packaged model, on one thread: others may be using the machine."""
    return LlamaEngine(Model(packaged_model()), Size(context, pool, slots, 1, queue_timeout))


async def ask(
    engine: LlamaEngine,
    tokens: Sequence[int],
    out: int = 10,
    *,
    start: State | None = None,
    reuse: int | None = None,
    sampling: Sampling = GREEDY,
    stop: tuple[str, ...] = (),
    keep: bool = False,
) -> Answer:
    """Submit a job and read its events to the end; they come in their order."""
    if reuse is None:
        reuse = len(start.tokens) if start else 0
    job = Job(list(tokens), start, reuse, sampling, out, stop, keep=keep)
    events = []
    async with aclosing(engine.submit(job)) as stream:
        async for event in stream:
            events.append(event)
    first, *texts, last = events
    assert isinstance(first, Started) and isinstance(last, Done)
    answer = Answer(last)
    for text in texts:
        assert isinstance(text, Text)
        answer.texts.append(text.text)
        answer.logprobs.extend(text.logprobs)
    return answer


def prompt(engine: LlamaEngine, question: str) -> list[int]:
    """The tokens of a first question."""
    pieces = engine.template.render(conversation([User(question)]), Opening.REPLY)
    return [token for piece in pieces for token in engine.encode(piece.text, piece.special)]


def turn(engine: LlamaEngine, question: str) -> list[int]:
    """The tokens of one more question, after a reply."""
    text = f"<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    return list(engine.encode(text, True))


def spelled(engine: LlamaEngine, tokens: Sequence[int]) -> str:
    return b"".join(map(engine.piece, tokens)).decode()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


async def until_empty(engine: LlamaEngine) -> None:
    """Wait until no cell is in use and nothing runs."""
    await until(lambda: engine.pool() == Pool(engine.pool().cells, 0, 0, 0, 0))
