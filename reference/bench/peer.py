"""Other servers beside ours: the same model, the same requests, the same threads."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec

from bench.client import Ask, at_once
from bench.fanout import FanOut, continuations, fan_out
from bench.ours import AGAIN, COLD_SAME, FIRST, OTHER
from bench.workload import LETTER, REPLY, STORY, Shape, history
from demo.process import ServerTrouble, environment, serve
from halogen_reference.settings import packaged_model
from halogen_reference.settings import read as read_settings

FAN_OUTS = (COLD_SAME, FIRST, AGAIN, OTHER)
"""What every server is given. None of the requests carries a header of this protocol."""
STEPS = len(FAN_OUTS) + 1
"""How often :func:`measure` tells of its progress."""

VARIABLE = "LLAMA_SERVER"
_VERSION = re.compile(r"^version: (.+)$", re.MULTILINE)
_VERSION_S = 30


class NotOffered(Exception):
    """Nobody set this server up; the message says what to do to have it measured."""


@dataclass(frozen=True, slots=True)
class Program:
    """What starts a server: the first words of its command, and the version it is of."""

    words: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Peer:
    """A server that is not ours, and how it is found, started and waited for."""

    name: str
    ready: str
    """The path that answers 200 once the model is loaded."""
    options: Callable[[Shape, int], dict[str, str | None]]
    """From the number of threads: its options beside model and address, None for a bare flag."""
    find: Callable[[Mapping[str, str]], Program]
    """From the environment. Raises NotOffered, ServerTrouble."""


def _llama_cpp_server(environ: Mapping[str, str]) -> Program:
    """Its own dependencies come with llama-cpp-python's extra ``server``."""
    needed = ("fastapi", "sse_starlette", "starlette_context", "pydantic_settings")
    if not all(find_spec(name) for name in needed):
        raise NotOffered("its packages are not installed (extra `bench`)")
    return Program((sys.executable, "-m", "llama_cpp.server"), version("llama-cpp-python"))


def _llama_cpp_options(shape: Shape, threads: int) -> dict[str, str | None]:
    return {
        "--n_threads": str(threads),
        "--n_threads_batch": str(threads),
        "--n_ctx": str(shape.context),
        "--cache": "true",
        # Otherwise a new request cuts off the one that is being answered.
        "--interrupt_requests": "false",
    }


def _llama_server(environ: Mapping[str, str]) -> Program:
    """The program that the environment names. Raises ServerTrouble where it cannot be run: who
    named it wants its figures, and would otherwise learn at the end that there are none."""
    if not (named := environ.get(VARIABLE, "").strip()):
        raise NotOffered(f"set {VARIABLE} to the path of llama.cpp's server program")
    advice = f"Give the path of llama.cpp's server program, or unset {VARIABLE}."
    path = shutil.which(named)
    if path is None:
        wrong = "is not a program that can be run" if os.path.exists(named) else "is not there"
        raise ServerTrouble(f"{VARIABLE}: {named} {wrong}. {advice}")
    command = [path, "--version"]
    try:
        run = subprocess.run(
            command, env=environment({}), capture_output=True, timeout=_VERSION_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerTrouble(f"{VARIABLE}: {named} cannot be run ({error}). {advice}") from None
    said = (run.stdout + run.stderr).decode("utf-8", "replace").strip()
    found = _VERSION.search(said)
    if run.returncode != 0 or found is None:
        last = said.splitlines()[-1] if said else "nothing"
        raise ServerTrouble(
            f"{VARIABLE}: `{named} --version` names no version but ends with code "
            f"{run.returncode} and says: {last[:200].rstrip('.')}. {advice}"
        )
    return Program((path,), found[1].strip())


def _llama_server_options(shape: Shape, threads: int) -> dict[str, str | None]:
    """Each branch a slot of its own, over one cache of the size that ours has."""
    return {
        "--threads": str(threads),
        "--threads-batch": str(threads),
        "--ctx-size": str(shape.cells()),
        "--parallel": str(shape.clients),
        "--kv-unified": None,
    }


PEERS = (
    Peer("llama-server", "/health", _llama_server_options, _llama_server),
    Peer("llama_cpp.server", "/v1/models", _llama_cpp_options, _llama_cpp_server),
)


def choose(
    names: Sequence[str] | None, environ: Mapping[str, str]
) -> tuple[dict[str, Program], list[str]]:
    """The servers to measure beside ours, and a line for each that nobody set up.

    ``names``: these and no others, None for all that can be had. Raises ServerTrouble where one
    that was asked for, by its name or by the environment, cannot be had.
    """
    found: dict[str, Program] = {}
    absent: list[str] = []
    for peer in PEERS:
        if names is not None and peer.name not in names:
            continue
        try:
            found[peer.name] = peer.find(environ)
        except NotOffered as why:
            if names is not None:
                raise ServerTrouble(f"{peer.name} cannot be measured beside: {why}.") from None
            absent.append(f"{peer.name} is not measured beside: {why}.")
    return found, absent


def command(peer: Peer, program: Program, shape: Shape, port: int) -> list[str]:
    """How this server is started on that port of the loopback address."""
    chosen = read_settings()
    options: dict[str, str | None] = {
        "--model": str(chosen.checkpoint or packaged_model()),
        "--host": "127.0.0.1",
        "--port": str(port),
        **peer.options(shape, chosen.threads),
    }
    pairs = ((name,) if value is None else (name, value) for name, value in options.items())
    return [*program.words, *(word for pair in pairs for word in pair)]


def measure(
    peer: Peer, program: Program, shape: Shape, tell: Callable[[str], None]
) -> dict[str, FanOut]:
    """Every fan-out of the table on a fresh server. Raises ServerTrouble, httpx.HTTPError."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = command(peer, program, shape, port)
    tell(f"{peer.name}: start")
    with serve(words, {}, url=f"http://127.0.0.1:{port}", ready=peer.ready) as server:
        return asyncio.run(_fan_outs(shape, server.url, lambda what: tell(f"{peer.name}: {what}")))


async def _fan_outs(shape: Shape, url: str, tell: Callable[[str], None]) -> dict[str, FanOut]:
    await at_once(url, [Ask([{"role": "user", "content": "Hello."}], 4)])
    opening = history(shape)
    done: dict[str, FanOut] = {}

    async def take(title: str, asks: list[Ask]) -> None:
        tell(title)
        done[title] = await fan_out(url, asks, metrics=False)

    await take(COLD_SAME, continuations(shape, history(shape, 99), REPLY))
    (kept,) = await at_once(url, [Ask(opening, shape.reply)])
    warm, other = (continuations(shape, opening, kept.text, asking) for asking in (STORY, LETTER))
    await take(FIRST, warm)
    await take(AGAIN, warm)
    await take(OTHER, other)
    return done
