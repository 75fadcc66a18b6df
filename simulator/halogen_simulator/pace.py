"""How long the simulated engine takes. Without a pace it takes no time at all."""

import asyncio
from dataclasses import dataclass
from typing import Protocol


class Seat(Protocol):
    """One reply's share of the machine. Must be left."""

    async def read(self, tokens: int, most: int) -> None:
        """Wait until that many prompt tokens are evaluated. ``most``: tokens the reply may have."""

    async def step(self) -> None:
        """Wait until the reply's next token is there."""

    def leave(self) -> None:
        """The reply is over, however it ended. May be called again."""


class Pace(Protocol):
    """The machine that all replies share."""

    @property
    def token_bytes(self) -> int:
        """KV bytes of one token."""

    def seat(self) -> Seat:
        """For a reply that has its place."""


@dataclass(frozen=True, slots=True)
class SteadyPace:
    """The same time for every token, whatever else runs; prompts take none."""

    token_s: float
    token_bytes: int

    def seat(self) -> Seat:
        return self

    async def read(self, tokens: int, most: int) -> None:
        """At once."""

    async def step(self) -> None:
        await asyncio.sleep(self.token_s)

    def leave(self) -> None:
        """Nobody waits for anybody."""
