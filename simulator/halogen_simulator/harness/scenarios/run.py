"""Scenarios played on routes, and what is said of them."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.exchange import Ending
from halogen_simulator.harness.lineage import Knot
from halogen_simulator.harness.program import ABSENT
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Broken, Stage
from halogen_simulator.harness.scenarios.step import Step
from halogen_simulator.harness.scenarios.table import SCENARIOS, Scenario
from halogen_simulator.values import TARGET_LOST, USAGE, wants_a_key

DEFAULT_CAP = 8
"""Names a server holds when it does not tell (HALOGEN_FORK_HANDLES)."""


class CannotPlay(Exception):
    """Nothing can be played at all; the message says why and what to do. ``code`` is the exit code
    for it."""

    def __init__(self, line: str, code: int = USAGE) -> None:
        super().__init__(line)
        self.code = code


@dataclass(frozen=True, slots=True)
class Played:
    """One scenario on one route."""

    scenario: str
    route: str
    steps: tuple[Step, ...]
    broken: str = ""
    """Why it ended early; empty when it did not."""

    @property
    def title(self) -> str:
        return f"{self.scenario} on {self.route}"

    @property
    def deviations(self) -> list[str]:
        """One line for each thing that should have come out otherwise; empty: all as expected."""
        found = [
            f"{self.title}, {step.label}: {what}" for step in self.steps for what in step.wrong
        ]
        return [*found, *([f"{self.title}, {self.broken}"] if self.broken else [])]

    @property
    def sessions_off(self) -> bool:
        """No answer said what came of its start."""
        outcomes = {step.cost.outcome for step in self.steps if step.parent is not None}
        return outcomes == {ABSENT}

    def line(self) -> str:
        """What came of it, for people."""
        asked = [step for step in self.steps if not step.twin]
        evaluated = sum(step.cost.evaluated or 0 for step in asked)
        reused = sum(step.cost.reused or 0 for step in asked)
        verdict = "NOT as expected" if self.deviations else "as expected"
        counts = f"{len(asked)} requests, {evaluated:,} prompt tokens evaluated, {reused:,} reused"
        return f"{self.title}: {verdict} ({counts}{self._times()})"

    def _times(self) -> str:
        """Medians of the first token: of the requests that were compared, and of their twins."""
        twins = [step for step in self.steps if step.twin]
        compared = {step.label.removesuffix(", cold") for step in twins}
        own = [step for step in self.steps if step.label in compared and not step.twin]
        mine, cold = _first_tokens(own), _first_tokens(twins)
        if not mine or not cold:
            return ""
        once, alone = f"{median(mine):.0f} ms", f"{median(cold):.0f} ms"
        return f"; first token after {once}, cold and one by one after {alone}"

    def knots(self) -> list[Knot]:
        """The requests as a tree of forks, those without the headers left out."""
        return [
            Knot(
                step.label,
                step.parent,
                step.label,
                step.cost.evaluated or 0,
                step.cost.reused or 0,
                1,
                step.cost.outcome,
            )
            for step in self.steps
            if not step.twin
        ]


@dataclass(frozen=True, slots=True)
class Plays:
    """What to play, where, and how large."""

    client: Client
    scenarios: Sequence[str]
    routes: Sequence[str]
    options: Options
    size: Size = field(default_factory=Size)
    handles: int | None = None
    """Names the server holds; None: it is asked."""
    deterministic: bool = True

    def run(self) -> Iterator[Played]:
        """Play each scenario on each route. Raises CannotPlay."""
        chosen = [SCENARIOS[name] for name in self.scenarios]
        self._check_room(chosen)
        # One set for all: each scenario keeps under the names of the one before, and the server
        # holds no more than the largest needs. Nobody can guess them.
        mark = secrets.token_hex(8)
        names = [f"scenario-{mark}-{n}" for n in range(self._most(chosen))]
        for scenario in chosen:
            for route in self.routes:
                yield self._play(scenario, route, names)

    def _play(self, scenario: Scenario, route: str, names: Sequence[str]) -> Played:
        mine = names[: scenario.names(self.size)]
        stage = Stage(self.client, DRIVERS[route], self.options, mine, self.deterministic)
        broken = ""
        try:
            scenario.play(stage, self.size)
        except Broken as error:
            broken = str(error)
        return Played(scenario.name, route, tuple(stage.steps), broken)

    def _most(self, chosen: Sequence[Scenario]) -> int:
        return max(scenario.names(self.size) for scenario in chosen)

    def _check_room(self, chosen: Sequence[Scenario]) -> None:
        exchange = self.client.handles()
        if exchange.ending is Ending.UNREACHABLE:
            line = f"{exchange.error}: start the server, or give another --base-url"
            raise CannotPlay(line, TARGET_LOST)
        if exchange.status == 401:
            raise CannotPlay(wants_a_key(self.client.key is not None), TARGET_LOST)
        room = self.handles or _told_room(self.client) or DEFAULT_CAP
        for scenario in chosen:
            needed = scenario.names(self.size)
            if needed > room:
                raise CannotPlay(
                    f"{scenario.name} of this size keeps {needed} names at once, and the server "
                    f"holds {room}: make it smaller, or start the server with "
                    f"HALOGEN_FORK_HANDLES={needed} (if it does not tell how many it holds, "
                    f"give --handles)"
                )


def _told_room(client: Client) -> int | None:
    """How many names the server says it holds (LIST-2)."""
    listed = client.names()
    body = listed.body if listed else None
    told = body.get("max_handles") if isinstance(body, dict) else None
    return told if isinstance(told, int) and told > 0 else None


def _first_tokens(steps: Sequence[Step]) -> list[float]:
    """In milliseconds."""
    seconds = (step.cost.first_token_s for step in steps)
    return [value * 1000 for value in seconds if value is not None]
