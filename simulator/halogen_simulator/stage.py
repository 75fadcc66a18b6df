"""A script at work: which line a turn gets, and what the line does beside saying something."""

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar

from halogen_reference.engine.protocol import EngineFailed
from halogen_simulator.calls import last_message
from halogen_simulator.script import Line, Scene, Script
from halogen_simulator.vocabulary import OPEN_MARK

HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("request headers", default=None)
"""The HTTP headers of the request a job comes from; set by the server around it."""


def line(script: Script, request: int, data: bytes) -> Line | None:
    """The line for a turn, by what the model has read. None when there is none."""
    if not script.lines:
        return None
    role, text = last_message(data)
    system = data.partition(OPEN_MARK + b"system\n")[2].partition(OPEN_MARK)[0]
    turn = data.count(OPEN_MARK + b"assistant\n")
    headers = HEADERS.get() or {}
    return script.next(Scene(request, turn, role, text, system.decode("utf-8", "replace"), headers))


async def act(line: Line, released: int) -> None:
    """Before more is said, once ``released`` pieces of text are out. Raises EngineFailed."""
    if line.fail_after is not None and released >= line.fail_after:
        raise EngineFailed("the script says that the model fails here")
    if line.hang_after is not None and released >= line.hang_after:
        await asyncio.Event().wait()
