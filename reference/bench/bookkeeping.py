"""What the sessions cost a request apart from the engine: match, name, list."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from statistics import median

from halogen_reference import settings
from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant, Conversation, Item, User, conversation
from halogen_reference.engine.protocol import EngineEvent, Job, Pool, ReleaseOne, State
from halogen_reference.prompt import ChatTemplate
from halogen_reference.server import Server, build
from halogen_reference.sessions.sessions import Outcome, Wish

_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_CHARS = 4
"""Characters of a token of the engine below."""


class _State:
    """A state that holds tokens and no memory."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens, self.resident = tuple(tokens), len(tokens)
        self.size = len(tokens)

    def retain(self) -> "_State":
        return self

    def release(self) -> None:
        pass


class _NoEngine:
    """Everything the sessions ask of an engine, at no cost; nothing is ever generated."""

    model_id, context, vocabulary, fingerprint = "none", 1_000_000, 1_000, "none"
    template = ChatTemplate(_CHATML)

    def encode(self, text: str, special: bool) -> Sequence[int]:
        return (7,) * max(1, len(text) // _CHARS)

    def piece(self, token: int) -> bytes:
        return b"word"

    def submit(self, job: Job) -> AsyncGenerator[EngineEvent]:
        raise NotImplementedError

    async def export(self, state: State) -> bytes:
        return b""

    async def restore(self, tokens: Sequence[int], data: bytes) -> State:
        return _State(tokens)

    def pool(self) -> Pool:
        return Pool(cells=1, used=0, shared=0, running=0, waiting=0)

    def on_pressure(self, release_one: ReleaseOne) -> None:
        pass

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """Seconds a request: match and name and list together, for each length of history."""

    p50: dict[int, float]


def measure(lengths: Sequence[int] = (100, 200, 400), times: int = 200) -> Bookkeeping:
    """Start from a kept history of that many messages, keep the result, list the names."""
    return Bookkeeping({length: asyncio.run(_measure(length, times)) for length in lengths})


async def _measure(length: int, times: int) -> float:
    engine = _NoEngine()
    server = build(engine, settings.read({"HALOGEN_FORK": "1"}))
    first = _history(length - 1)
    await _visit(server, first, Wish(keep="kept"))
    kept = first.plus(_reply())
    seconds = []
    for _ in range(times):
        # Not the kept objects again: equality of one and the same object is free.
        request = _copy(kept).plus(User("And now the next part, please."))
        seconds.append(await _visit(server, request, Wish(start_from="kept", keep="next")))
    return median(seconds)


async def _visit(server: Server, history: Conversation, wish: Wish) -> float:
    """One request's way through the sessions; returns the seconds it took."""
    prompt = server.engine.template.render(history, Opening.REPLY)
    call = Call("none", history)
    started = time.perf_counter()
    visit = await server.sessions.open(call, prompt, wish)
    state = _State([*visit.start.tokens, *server.engine.encode(_reply().text, False)])
    visit.keep(_reply(), state)
    visit.close()
    server.sessions.table.live()
    seconds = time.perf_counter() - started
    assert wish.start_from is None or visit.outcome is Outcome.USED
    return seconds


def _history(length: int) -> Conversation:
    """Alternating turns, a user's last."""
    roles: tuple[Callable[[str], Item], ...] = (User, Assistant)
    text = "This is message {} of a long conversation about the move to the new parser. " * 2
    start = (length + 1) % 2
    return conversation([roles[(start + n) % 2](text.format(n, n)) for n in range(length)])


def _reply() -> Assistant:
    return Assistant("The plan has three parts, and the first of them is done.")


def _copy(one: Conversation) -> Conversation:
    def again(item: Item) -> Item:
        text = "".join(list(item.text))
        return User(text) if isinstance(item, User) else Assistant(text)

    return Conversation(tuple(again(item) for item in one.items))
