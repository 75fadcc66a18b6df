"""The simulation: agents' steps played against simulated servers (SimPy)."""

from collections.abc import Generator
from random import Random
from typing import Any

import simpy

from halogen_simulator.fleet.agents import Ask, Fan, Steps, Think, programs
from halogen_simulator.fleet.record import Figures, Record
from halogen_simulator.fleet.replica import Replica
from halogen_simulator.fleet.routing import ROUTES
from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.profile import Profile


class World:
    """One run. The same workload, service and profile give the same run, event for event.

    Raises ValueError when a request does not fit a server's memory at all.
    """

    def __init__(self, workload: Workload, service: Service, profile: Profile) -> None:
        self.env = simpy.Environment()
        self.record = Record()
        # What servers draw must not shift what agents draw: generators of their own.
        self._random = Random(f"{workload.seed}/routing")
        self._route = ROUTES[service.routing]
        self.replicas = [
            Replica(self.env, service, profile, self.record, Random(f"{workload.seed}/{number}"))
            for number in range(service.servers)
        ]
        self._ended = 0.0
        for steps in programs(workload):
            self.env.process(self._play(steps))

    def run(self) -> Figures:
        """Play to the end."""
        self.env.run()
        end = self._ended
        return self.record.figures(
            memory_peak=max(replica.memory.peak for replica in self.replicas),
            memory_mean=sum(replica.memory.mean(end) for replica in self.replicas),
            names_most=max(replica.names.most for replica in self.replicas),
            seconds=end,
        )

    def _play(self, steps: Steps) -> Generator[simpy.Event, Any, None]:
        for step in steps:
            match step:
                case Ask():
                    number = self._route(step, self.replicas, self._random)
                    yield self.replicas[number].submit(step)
                    self._ended = self.env.now
                case Think(seconds):
                    yield self.env.timeout(seconds)
                case Fan(agents):
                    yield self.env.all_of([self.env.process(self._play(one)) for one in agents])


def simulate(workload: Workload, service: Service, profile: Profile) -> Figures:
    """One run, from the first arrival to the last reply."""
    return World(workload, service, profile).run()
