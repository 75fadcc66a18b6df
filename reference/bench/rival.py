"""llama-cpp-python's own server beside ours: the same model, the same requests."""

import asyncio
import socket
import sys
from collections.abc import Callable
from importlib.util import find_spec

from bench.client import Ask, at_once
from bench.fanout import FanOut, fan_out
from bench.ours import AGAIN, COLD_SAME, FIRST
from bench.workload import Shape, continuation, history
from demo.process import serve
from halogen_reference.settings import packaged_model
from halogen_reference.settings import read as read_settings

STEPS = 4
ABSENT = "llama_cpp.server is not installed (extra `bench`), so it is not measured beside."


def available() -> bool:
    """Its own dependencies come with llama-cpp-python's extra ``server``."""
    needed = ("fastapi", "sse_starlette", "starlette_context", "pydantic_settings")
    return all(find_spec(name) for name in needed)


def measure(shape: Shape, tell: Callable[[str], None]) -> dict[str, FanOut]:
    """Raises ServerTrouble, httpx.HTTPError."""
    chosen = read_settings()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {
        "model": str(chosen.checkpoint or packaged_model()),
        "host": "127.0.0.1",
        "port": str(port),
        "n_ctx": str(shape.context),
        "n_threads": str(chosen.threads),
        "n_threads_batch": str(chosen.threads),
        "cache": "true",
        # Otherwise a new request cuts off the one that is being answered.
        "interrupt_requests": "false",
    }
    command = [sys.executable, "-m", "llama_cpp.server"]
    command += [word for name, value in options.items() for word in (f"--{name}", value)]
    tell("llama_cpp.server: start")
    with serve(command, {}, url=f"http://127.0.0.1:{port}", ready="/v1/models") as server:
        return asyncio.run(_fan_outs(shape, server.url, tell))


async def _fan_outs(shape: Shape, url: str, tell: Callable[[str], None]) -> dict[str, FanOut]:
    await at_once(url, [Ask([{"role": "user", "content": "Hello."}], 4)])
    opening, clients = history(shape), range(shape.clients)
    done: dict[str, FanOut] = {}

    async def take(title: str, asks: list[Ask]) -> None:
        tell(f"llama_cpp.server: {title}")
        done[title] = await fan_out(url, asks, metrics=False)

    cold = [continuation(history(shape, 99), "Every unit is described.", n) for n in clients]
    await take(COLD_SAME, [Ask(messages, shape.tokens) for messages in cold])
    (kept,) = await at_once(url, [Ask(opening, shape.reply)])
    warm = [Ask(continuation(opening, kept.text, n), shape.tokens) for n in clients]
    await take(FIRST, warm)
    await take(AGAIN, warm)
    return done
