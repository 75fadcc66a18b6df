"""What the agents do: how many there are, how long they think and how much they say.

Lengths and times are lognormal around a median: most are short, a few are very long, as seen in
agents' traffic. Each agent draws from a generator of its own, so that the same seed gives the same
agents whatever the servers do, and two settings are compared on the same work.
"""

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any


def option(default: Any, about: str, metavar: str = "N") -> Any:
    """A field that the command line offers, with its help text; ``metavar`` stands for its value
    there."""
    return field(default=default, metadata={"about": about, "metavar": metavar})


@dataclass(frozen=True, slots=True)
class Workload:
    """Times in seconds, lengths in tokens, shares from 0 to 1.

    A program is a main conversation with a person. In some of its turns it calls subagents, all at
    once; each works for a few steps on its own, and the main conversation goes on with the results.
    """

    seed: int = option(0, "the same seed gives the same agents")
    programs: int = option(4, "agent programs, each with a main conversation")
    subagents: int = option(10, "subagents that a program calls at once")
    arrival_s: float = option(20.0, "mean seconds between the starts of two programs", "S")
    turns: int = option(6, "times a person speaks to a program")
    steps: float = option(3.0, "mean requests of a main conversation for each turn")
    fan_out: float = option(0.5, "share of the turns that call subagents", "SHARE")
    subagent_steps: float = option(5.0, "mean requests of a subagent")
    fork: float = option(
        1.0, "share of the subagents that begin from the main conversation", "SHARE"
    )
    side: float = option(0.2, "share of the turns with a side request, such as a recap", "SHARE")
    rewrite: float = option(
        0.02, "share of the turns whose client changes what was said before", "SHARE"
    )
    think_s: float = option(45.0, "median seconds until a person answers", "S")
    think_sigma: float = option(1.0, "spread of these, as sigma of the lognormal", "SIGMA")
    tool_s: float = option(6.0, "median seconds a tool runs between two requests", "S")
    tool_sigma: float = option(1.0, "spread of these", "SIGMA")
    system_tokens: int = option(4000, "tokens of the system text and the tools")
    message_tokens: float = option(150.0, "median tokens of what a person says")
    result_tokens: float = option(500.0, "median tokens of a tool's result")
    reply_tokens: float = option(150.0, "median tokens of a reply")
    token_sigma: float = option(0.8, "spread of these three", "SIGMA")
    context: int = option(64_000, "tokens at which a client compacts its history")
    summary_tokens: int = option(1500, "tokens that a compacted history keeps")

    def __post_init__(self) -> None:
        for name in ("fan_out", "fork", "side", "rewrite"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share, from 0 to 1")
        for name in ("programs", "turns", "steps", "subagent_steps", "system_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        for name in ("think_s", "tool_s", "message_tokens", "result_tokens", "reply_tokens"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0")
        for name in ("subagents", "arrival_s", "think_sigma", "tool_sigma", "token_sigma"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be below 0")
        if self.context < self.system_tokens + self.summary_tokens + self.longest * 3:
            raise ValueError("context is too small for the system text, a summary and one turn")

    @property
    def agents(self) -> int:
        """Conversations at work at most: main ones and one set of subagents each."""
        return self.programs * (1 + self.subagents)

    @property
    def longest(self) -> int:
        """No message or reply is longer: the far tail of a lognormal would not fit any context."""
        median = max(self.message_tokens, self.result_tokens, self.reply_tokens)
        return int(median * 10) + 1

    def random(self, *who: object) -> Random:
        """The generator of one agent: the same for equal seed and agent, in every process."""
        return Random("/".join(map(str, (self.seed, *who))))

    def think(self, random: Random) -> float:
        return self.think_s * math.exp(random.gauss(0, self.think_sigma))

    def tool(self, random: Random) -> float:
        return self.tool_s * math.exp(random.gauss(0, self.tool_sigma))

    def tokens(self, median: float, random: Random) -> int:
        """A length of at least 1 around ``median``."""
        drawn = int(median * math.exp(random.gauss(0, self.token_sigma)))
        return min(max(drawn, 1), self.longest)

    @staticmethod
    def count(mean: float, random: Random) -> int:
        """A geometric number of at least 1."""
        if mean <= 1:
            return 1
        return 1 + int(math.log(1 - random.random()) / math.log(1 - 1 / mean))
