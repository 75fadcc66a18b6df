"""Many runs side by side: a sweep over settings, and the spread over seeds."""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

from halogen_simulator.fleet.record import Figures
from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.fleet.world import simulate
from halogen_simulator.profile import Profile


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting, to be run with several seeds: on the same ones for every setting."""

    workload: Workload
    service: Service
    profile: Profile


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the seeds. ``deviation`` is that of the seeds, not of their mean."""

    mean: float
    deviation: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Seeds without the figure (NaN) are left out."""
        there = [value for value in values if not math.isnan(value)]
        if not there:
            return cls(math.nan, math.nan, 0)
        return cls(statistics.fmean(there), statistics.pstdev(there), len(there))


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A trial's figures, one for each seed."""

    trial: Trial
    figures: tuple[Figures, ...]

    def spread(self, figure: str) -> Spread:
        """One of the figures, by its name."""
        return Spread.of(self._values(figure))

    def difference(self, figure: str, other: "Outcomes") -> Spread:
        """How much larger the figure is than another trial's, seed by seed."""
        pairs = zip(self._values(figure), other._values(figure), strict=True)
        return Spread.of([own - others for own, others in pairs])

    def _values(self, figure: str) -> list[float]:
        return [float(getattr(one, figure)) for one in self.figures]


def sweep(
    base: Trial, caps: Sequence[float], ttls: Sequence[float], policies: Sequence[str]
) -> list[Trial]:
    """Every combination of cap, time to live and release policy."""
    return [
        replace(base, service=replace(base.service, policy=policy, cap=cap, ttl=ttl))
        for policy, ttl, cap in itertools.product(policies, ttls, caps)
    ]


def study(base: Trial, programs: Sequence[int], policies: Sequence[str]) -> list[Trial]:
    """Every release policy with each number of programs."""
    return [
        replace(
            base,
            workload=replace(base.workload, programs=count),
            service=replace(base.service, policy=policy),
        )
        for policy, count in itertools.product(policies, programs)
    ]


def run(trials: Sequence[Trial], seeds: int, jobs: int = 1) -> Iterator[Outcomes]:
    """Run each trial with seeds from its workload's on; results come in order, as they are ready.
    ``jobs`` above 1 uses that many processes; the results are the same."""
    single = [
        replace(trial, workload=replace(trial.workload, seed=trial.workload.seed + number))
        for trial in trials
        for number in range(seeds)
    ]
    if jobs == 1:
        yield from _grouped(trials, map(_simulate, single), seeds)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from _grouped(trials, pool.map(_simulate, single), seeds)


def _simulate(trial: Trial) -> Figures:
    return simulate(trial.workload, trial.service, trial.profile)


def _grouped(trials: Sequence[Trial], figures: Iterator[Figures], seeds: int) -> Iterator[Outcomes]:
    for trial in trials:
        yield Outcomes(trial, tuple(itertools.islice(figures, seeds)))
