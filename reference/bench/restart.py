"""A restart with names on disk: how soon the first fork answers, against a cold one."""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from bench.client import Ask, at_once
from bench.ours import settings
from bench.workload import Shape, continuation, history
from demo.process import REFERENCE, ServerTrouble, serve

STEPS = 2
"""How often :func:`measure` tells of its progress."""


@dataclass(frozen=True, slots=True)
class Restart:
    """Seconds to the first text of the first fork after a restart, and of a cold twin."""

    names: int
    tokens: int
    """Prompt tokens of one history."""
    fork: float
    cold: float


def measure(shape: Shape, tell: Callable[[str], None]) -> Restart:
    """Keep as many names as there are clients, restart, and start once from each.

    Raises ServerTrouble, also when a name did not survive; httpx.HTTPError.
    """
    clients = range(shape.clients)
    with tempfile.TemporaryDirectory(prefix="halogen-cache-") as folder:
        chosen = {**settings(shape), "HALOGEN_CACHE_DIR": folder}
        openings = [history(shape, 200 + n) for n in clients]
        keeps = [Ask(openings[n], shape.reply, keep=f"name-{n}") for n in clients]
        tell("names are kept on disk")
        with serve(REFERENCE, chosen) as server:
            kept = asyncio.run(at_once(server.url, keeps))
        forks = [continuation(openings[n], kept[n].text, n) for n in clients]
        tell("the server is back: the first fork of each name")
        with serve(REFERENCE, chosen) as server:
            return asyncio.run(_first_forks(server.url, shape, forks))


async def _first_forks(url: str, shape: Shape, forks: list[list[dict[str, str]]]) -> Restart:
    asks = [Ask(messages, 4, start=f"name-{n}") for n, messages in enumerate(forks)]
    heard = [(await at_once(url, [ask]))[0] for ask in asks]
    lost = [one.outcome for one in heard if one.outcome != "used"]
    if lost:
        raise ServerTrouble(f"after the restart {len(lost)} names were {lost[0]}, not used")
    # Another history of the same size: nothing in the server repeats it.
    stranger = continuation(history(shape, 300), "Every unit is described.", 0)
    (cold,) = await at_once(url, [Ask(stranger, 4)])
    return Restart(len(heard), heard[0].prompt, heard[0].first, cold.first)
