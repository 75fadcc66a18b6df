"""What is written down of every request, and the figures made from it."""

import math
from array import array
from dataclasses import dataclass

import numpy as np

from halogen_simulator.fleet.agents import Ask, Kind
from halogen_simulator.fleet.names import Outcome


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to. Shares from 0 to 1 (NaN where there was nothing to share), times in
    seconds, lengths and memory in tokens."""

    requests: int
    starts: int
    """Requests that named a state to start from; the next three are shares of these."""
    used: float
    unmatched: float
    unknown: float
    by_kind: dict[str, float]
    """Share that was ``used``, for each kind of request."""
    warm: float
    """Of the conversations with more than one request, those that went on from their own name
    every time."""
    prompt: int
    """Tokens of all prompts: what is read without sessions."""
    evaluated: int
    """Tokens that were read."""
    ttft_p50: float
    ttft_p95: float
    memory_peak: int
    """Of the fullest server."""
    memory_mean: float
    """Of all servers together, over the time of the run."""
    names_most: int
    """Names live at once, of the server that had most."""
    seconds: float
    """Simulated time from the first arrival to the last reply."""

    @property
    def read_share(self) -> float:
        """Tokens read, as a share of what is read without sessions."""
        return self.evaluated / self.prompt if self.prompt else math.nan


class Record:
    """Requests, in the order they ended. Compact: some thirty bytes each."""

    def __init__(self) -> None:
        self.outcomes = array("b")
        self.kinds = array("b")
        self.prompt = array("q")
        self.evaluated = array("q")
        self.ttft = array("d")
        self._continued: dict[str, bool] = {}
        """Conversations that went on from their own name, and whether it was there every time."""

    def add(self, ask: Ask, outcome: Outcome, prompt: int, evaluated: int, ttft: float) -> None:
        """A request has ended. ``prompt`` and what was ``evaluated`` of it in tokens, the time to
        its first token in seconds."""
        self.outcomes.append(outcome)
        self.kinds.append(ask.kind)
        self.prompt.append(prompt)
        self.evaluated.append(evaluated)
        self.ttft.append(ttft)
        name = ask.keep
        if name is not None and name == ask.start_from:
            used = outcome is Outcome.USED
            self._continued[name] = used and self._continued.get(name, True)

    def figures(
        self, *, memory_peak: int = 0, memory_mean: float = 0.0, names_most: int = 0, seconds: float
    ) -> Figures:
        """The figures of all requests so far; what servers alone know is given."""
        outcomes = np.frombuffer(self.outcomes, dtype=np.int8)
        kinds = np.frombuffer(self.kinds, dtype=np.int8)
        started = outcomes != Outcome.ABSENT
        used = outcomes == Outcome.USED
        starts = int(started.sum())
        ttft = np.frombuffer(self.ttft, dtype=np.float64)
        p50, p95 = np.percentile(ttft, [50, 95]) if len(ttft) else (math.nan, math.nan)
        return Figures(
            requests=len(outcomes),
            starts=starts,
            used=_share(int(used.sum()), starts),
            unmatched=_share(int((outcomes == Outcome.UNMATCHED).sum()), starts),
            unknown=_share(int((outcomes == Outcome.UNKNOWN).sum()), starts),
            by_kind={
                kind.name.lower(): _share(
                    int((used & (kinds == kind)).sum()), int((started & (kinds == kind)).sum())
                )
                for kind in Kind
            },
            warm=_share(sum(self._continued.values()), len(self._continued)),
            prompt=sum(self.prompt),
            evaluated=sum(self.evaluated),
            ttft_p50=float(p50),
            ttft_p95=float(p95),
            memory_peak=memory_peak,
            memory_mean=memory_mean,
            names_most=names_most,
            seconds=seconds,
        )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
