"""How long the simulated engine takes. Without a pace it takes no time at all."""

from dataclasses import dataclass
from typing import Protocol

from halogen_simulator.profile import Profile


class Pace(Protocol):
    """Seconds of work. ``running`` counts the replies generated at this moment, this one included:
    all share one machine."""

    def prefill_s(self, tokens: int, running: int) -> float:
        """To evaluate that many prompt tokens."""

    def step_s(self, running: int) -> float:
        """From one token to the next."""

    @property
    def token_bytes(self) -> int:
        """KV bytes of one token."""


@dataclass(frozen=True, slots=True)
class SteadyPace:
    """The same time for every token, whatever else runs; prompts take none."""

    token_s: float
    token_bytes: int

    def prefill_s(self, tokens: int, running: int) -> float:
        return 0.0

    def step_s(self, running: int) -> float:
        return self.token_s


@dataclass(frozen=True, slots=True)
class ProfilePace:
    """As a measured server."""

    profile: Profile

    @property
    def token_bytes(self) -> int:
        return self.profile.bytes_per_token

    def prefill_s(self, tokens: int, running: int) -> float:
        """Chunk by chunk; beside running replies each chunk's batch serves them, too."""
        profile, others = self.profile, running - 1
        chunk = profile.chunk_beside if others else profile.chunk_alone
        whole, rest = divmod(tokens, chunk)
        seconds = whole * (profile.read_s(chunk) + profile.decode_s(others))
        return seconds + (profile.read_s(rest) + profile.decode_s(others) if rest else 0.0)

    def step_s(self, running: int) -> float:
        return self.profile.decode_s(running)
