"""The study in the documents is what the simulation gives."""

from pathlib import Path

import pytest

from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.trials import Outcomes, Trial, run, study
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.profile import load

HOME = Path(__file__).resolve().parents[2]
DOCUMENTS = [path for name in ("FLEET.md", "README.md") if (path := HOME / name).exists()]


def row(policy: str, results: list[Outcomes]) -> str:
    spreads = [result.spread(figure) for figure in ("used", "warm") for result in results]
    cells = [f"{100 * spread.mean:.1f} ± {100 * spread.deviation:.1f}" for spread in spreads]
    return f"| `{policy}` | {' | '.join(cells)} |"


@pytest.mark.parametrize("policy", ["lru", "quiet-else-newest"])
def test_the_study_shows_the_figures_of_its_command(policy: str) -> None:
    base = Trial(Workload(turns=10), Service(), load("instant"))
    results = list(run(study(base, [1, 4, 16], [policy]), seeds=10))
    lines = [line for path in DOCUMENTS for line in path.read_text("utf-8").splitlines()]
    assert row(policy, results) in lines, "run the study again and copy its figures"
