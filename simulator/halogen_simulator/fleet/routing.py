"""Which of several servers a request goes to."""

import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from halogen_simulator.fleet.agents import Ask


class Loaded(Protocol):
    """A server, as far as routes see it."""

    @property
    def load(self) -> int:
        """Requests that it has now."""


Route = Callable[[Ask, Sequence[Loaded], Random], int]
"""(request, servers, generator) -> number of a server."""


def _by_program(ask: Ask, servers: Sequence[Loaded], random: Random) -> int:
    """All requests of one program go to one server."""
    return _hash(f"program-{ask.program}") % len(servers)


def _by_name(ask: Ask, servers: Sequence[Loaded], random: Random) -> int:
    """By the name that a request starts from, else the one it keeps under: what a proxy can do
    that knows the two headers and nothing else."""
    name = ask.start_from or ask.keep
    return _hash(name) % len(servers) if name else _random(ask, servers, random)


def _random(ask: Ask, servers: Sequence[Loaded], random: Random) -> int:
    return random.randrange(len(servers))


def _least_busy(ask: Ask, servers: Sequence[Loaded], random: Random) -> int:
    return min(range(len(servers)), key=lambda number: servers[number].load)


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())


ROUTES: dict[str, Route] = {
    "program": _by_program,
    "name": _by_name,
    "random": _random,
    "least-busy": _least_busy,
}
