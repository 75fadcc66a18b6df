"""The scenarios by name."""

from collections.abc import Callable
from dataclasses import dataclass

from halogen_simulator.harness.scenarios import best_of, plan, reviewers, search
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Stage


@dataclass(frozen=True, slots=True)
class Scenario:
    """A pattern of forks and joins that can be played on any route."""

    name: str
    about: str
    names: Callable[[Size], int]
    """How many names it keeps at once."""
    play: Callable[[Stage, Size], None]
    """Raises Broken when a request is not answered."""


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("plan", plan.ABOUT, plan.names, plan.play),
        Scenario("best-of", best_of.ABOUT, best_of.names, best_of.play),
        Scenario("tree", search.ABOUT, search.names, search.play),
        Scenario("reviewers", reviewers.ABOUT, reviewers.names, reviewers.play),
    )
}
