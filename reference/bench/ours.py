"""One round on this project's server: a fresh server, every fan-out of the table, the bare loop."""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.bare import Bare
from bench.client import Ask, at_once, cells_used
from bench.fanout import FanOut, continuations, fan_out
from bench.workload import LETTER, REPLY, STORY, Shape, continuation, history
from demo.process import REFERENCE, ServerTrouble, environment, serve

NAME = "bench-history"
_BARE = Path(__file__).with_name("bare.py")
_BARE_S = 300

COLD_DIFFERENT = "cold, different histories"
COLD_SAME = "cold, the same history"
FIRST = "first after the keep"
AGAIN = "again"
OTHER = "again, other messages"
"""A server without names may by now hold the history for every client, and has the clients'
messages to read: as much as ours has to in the first fan-out after the keep."""
FAN_OUTS = (COLD_DIFFERENT, COLD_SAME, FIRST, AGAIN, OTHER)


@dataclass(frozen=True, slots=True)
class Cells:
    """KV cells once every fork is kept and nothing runs."""

    used: int
    history: int
    own: int
    """Evaluated tokens of the forks beyond the history, together."""


@dataclass(frozen=True, slots=True)
class Round:
    fan_outs: dict[str, FanOut]
    cells: Cells
    bare: Bare


STEPS = len(FAN_OUTS) + 4
"""How often :func:`measure` tells of its progress."""


def settings(shape: Shape) -> dict[str, str]:
    return {
        "HALOGEN_FORK": "1",
        "HALOGEN_FORK_HANDLES": str(2 + shape.clients),
        "HALOGEN_KV_SLOTS": str(shape.clients),
        "HALOGEN_CTX": str(shape.context),
        "HALOGEN_KV_POOL_POSITIONS": str(shape.cells()),
        "HALOGEN_QUEUE_TIMEOUT": "600",
    }


def measure(shape: Shape, tell: Callable[[str], None]) -> Round:
    """Raises ServerTrouble, httpx.HTTPError."""
    tell("a fresh server")
    with serve(REFERENCE, settings(shape)) as server:
        fan_outs, (used, held), forks = asyncio.run(_fan_outs(shape, server.url, tell))
    tell("the bare loop")
    loop = bare(shape, forks)
    return Round(fan_outs, _cells(used, held, loop.token_bytes), loop)


async def _fan_outs(
    shape: Shape, url: str, tell: Callable[[str], None]
) -> tuple[dict[str, FanOut], tuple[int, dict[str, int]], list[Ask]]:
    # The first request of a process pays for pages that are read for the first time.
    warm_up = [Ask([{"role": "user", "content": "Hello."}], 4)]
    await at_once(url, warm_up)
    opening = history(shape)
    done: dict[str, FanOut] = {}

    async def take(title: str, asks: list[Ask]) -> None:
        tell(title)
        done[title] = await fan_out(url, asks, metrics=True)

    different = [continuation(history(shape, 1 + n), REPLY, n) for n in range(shape.clients)]
    await take(COLD_DIFFERENT, [Ask(messages, shape.tokens) for messages in different])
    await take(COLD_SAME, continuations(shape, history(shape, 99), REPLY))
    tell("the keep")
    (kept,) = await at_once(url, [Ask(opening, shape.reply, keep=NAME)])
    warm, other = (
        continuations(shape, opening, kept.text, asking, start=NAME) for asking in (STORY, LETTER)
    )
    await take(FIRST, warm)
    await take(AGAIN, warm)
    await take(OTHER, other)
    tell("the forks' KV cells")
    keeping = [
        Ask(ask.messages, ask.max_tokens, start=NAME, keep=f"{NAME}-{n}")
        for n, ask in enumerate(warm)
    ]
    await at_once(url, keeping)
    return done, await _held(url), warm


async def _held(url: str) -> tuple[int, dict[str, int]]:
    """KV cells in use, and the bytes each live name holds."""
    async with httpx.AsyncClient(trust_env=False) as client:
        data = (await client.get(f"{url}/halogen/handles")).raise_for_status().json()["data"]
    return await cells_used(url), {entry["name"]: entry["bytes"] for entry in data}


def _cells(used: int, held: dict[str, int], token_bytes: int) -> Cells:
    """With every fork kept and nothing running: cells = the history once + each fork's own."""
    resident = {name: size // token_bytes for name, size in held.items()}
    whole = resident.pop(NAME)
    return Cells(used, whole, sum(tokens - whole for tokens in resident.values()))


def bare(shape: Shape, forks: list[Ask]) -> Bare:
    """The bare loop on the same prompts, in a process of its own. Raises ServerTrouble."""
    case = {
        "histories": [list(ask.messages) for ask in forks],
        "tokens": shape.tokens,
        "cells": shape.cells(),
    }
    with tempfile.TemporaryDirectory(prefix="halogen-") as folder:
        path = Path(folder, "case.json")
        path.write_text(json.dumps(case), "utf-8")
        run = subprocess.run(
            [sys.executable, str(_BARE), str(path)],
            env=environment({}),
            capture_output=True,
            text=True,
            timeout=_BARE_S,
            check=False,
        )
    if run.returncode != 0:
        raise ServerTrouble(f"the bare loop failed:\n{run.stderr[-1500:]}")
    return Bare(**json.loads(run.stdout))
