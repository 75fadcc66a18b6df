"""What scenes are made of.

A scene is what a client does and sees: one value, always the same on a right server. A fault is
worth its name when its scene gives another value. ``fault`` is switched on in every server a scene
starts; ``folder`` is the scene's own.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from halogen_conformance.drivers.conversation import (
    Conversation,
    Tool,
)
from halogen_simulator.engine import Character
from halogen_simulator.faults.fault import Fault
from halogen_simulator.pace import SteadyPace
from tests.world import FOG, Answer, Talk

Scene = Callable[[Fault | None, Path], Awaitable[object]]
SLACK = 4
LOOK = Tool(
    "look",
    "Looks.",
    {"type": "object", "properties": {"at": {"type": "string"}, "far": {"type": "integer"}}},
)
CHAT = "chat"
SLOW = Character(pace=SteadyPace(0.001, 1))


@dataclass(frozen=True)
class Kept:
    history: Conversation
    answer: Answer

    def then(self, text: str) -> Conversation:
        return self.history.plus(self.answer.reply.turn()).user(text)


async def kept(talk: Talk, name: str, history: Conversation = FOG, **how: object) -> Kept:
    return Kept(history, await talk.ask(history, keep=name, **how))  # type: ignore[arg-type]


async def equal(talk: Talk, answer: Answer, history: Conversation, **how: object) -> bool:
    """FROM-6: an answer is its twin's."""
    twin = await talk.ask(history, **how)  # type: ignore[arg-type]
    return answer.reply.same_as(twin.reply)


async def used(talk: Talk, fog: Kept, name: str = "a") -> bool:
    return (await talk.ask(fog.then("Why?"), start=name)).outcome == "used"


async def leave(talk: Talk, body: bytes, keep: str) -> None:
    """A client that goes away before its answer is there."""
    messages: Iterator[dict[str, object]] = iter(
        [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
    )

    async def receive() -> dict[str, object]:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: object) -> None:
        raise AssertionError(f"answered: {message}")

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": [(b"x-halogen-keep", keep.encode())],
        "query_string": b"",
    }
    await talk.simulator.app(scope, receive, send)
