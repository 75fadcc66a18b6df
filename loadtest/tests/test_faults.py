"""Every rule falls with a fault that breaks it, and none falls on a right server: real processes.

All runs are made once, four at a time, and each test looks at its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from halogen_loadtest.judge.invariants import INVARIANTS
from tests.launched import Outcome, load, simulator

# All runs together are waited for by whichever test is first.
WAIT_S = 280
pytestmark = pytest.mark.timeout(300)

SMALL = (
    "--users=2",
    "--iterations=2",
    "--forks=4",
    "--depth=2",
    "--history-tokens=60",
    "--reply-tokens=8",
    "--twins=1",
    "--deterministic",
    "--stop-time=5",
    "--run-time=40",
)


@dataclass(frozen=True)
class Case:
    """A load test of a server with one fault, or with none."""

    scenario: str
    fault: str = ""
    more: tuple[str, ...] = ()
    token_s: str = ""
    script: str = ""
    settings: dict[str, str] = field(default_factory=dict)

    def run(self, folder: Path) -> Outcome:
        options = [f"--fault={self.fault}"] if self.fault else []
        options += [f"--token-s={self.token_s}"] if self.token_s else []
        if self.script:
            folder.mkdir(parents=True)
            (folder / "script.yaml").write_text(self.script, "utf-8")
            options.append(f"--script={folder / 'script.yaml'}")
        with simulator(*options, **self.settings) as server:
            return load(folder, server.url, f"--scenario={self.scenario}", *SMALL, *self.more)


MAPPED = {"HALOGEN_FORK_MAP": "claude-code", "HALOGEN_FORK_HANDLES": "64"}
CHURN = ("--iterations=12", "--names=3")
FEW = {"HALOGEN_FORK_HANDLES": "3"}

FAULTY = {
    "answered": Case(
        "churn", "release-kills-users", (*CHURN, "--users=8", "--twins=0"), "0.02", settings=FEW
    ),
    "outcome-said": Case("fan-out", "header-twice"),
    "outcome-right": Case("fan-out", "consumes-when-read"),
    "cost": Case("fan-out", "reads-again"),
    "isolation": Case("fan-out", "sibling-leak"),
    "twin": Case("conversation", "other-words-when-used"),
    "refused-keep": Case("conversation", "failed-keep-releases"),
    "one-winner": Case("fan-out", "keeps-mixed"),
    "abandoned": Case("abort", "keeps-abandoned", ("--strict", "--iterations=1"), "0.005"),
    "cap": Case("churn", "cap-one-too-many", CHURN, settings=FEW),
    "list": Case("fan-out", "list-hides-newest"),
    "threads": Case("claude-code", "map-never-starts", ("--iterations=1",), settings=MAPPED),
}
BUSY = Case("churn", "refuses-at-cap", CHURN, settings=FEW)
ALL_AT_ONCE = Case("fan-out", "one-reader-at-a-time", ("--forks=6",), "0.02")
# One reply in the middle of everything.
BROKEN_OFF = {
    "breaks off": Case("fan-out", script="[{when: {request: 5}, fail_after: 2}]"),
}
CLEAN = {
    "fan-out": Case("fan-out"),
    "conversation": Case("conversation"),
    "churn": Case("churn", "", CHURN, "0.001", settings=FEW),
    "abort": Case("abort", "", ("--strict", "--iterations=1"), "0.005"),
    "claude-code": Case("claude-code", "", ("--iterations=1",), settings=MAPPED),
}
TRIED = {
    "fan-out": {"answered", "outcome-said", "outcome-right", "cost", "isolation", "twin"}
    | {"one-winner", "cap", "list"},
    "conversation": {"refused-keep", "twin", "list"},
    "churn": {"cap", "list", "outcome-right"},
    "abort": {"abandoned", "isolation"},
    "claude-code": {"threads", "cost"},
}
"""What a clean run of each scenario must have tried, or its verdict says nothing of it."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Outcome]]]:
    """All runs by name, begun in this order."""
    cases = {
        **{f"faulty {name}": case for name, case in FAULTY.items()},
        **{f"clean {name}": case for name, case in CLEAN.items()},
        **BROKEN_OFF,
        "busy": BUSY,
        "all at once": ALL_AT_ONCE,
    }
    home = tmp_path_factory.mktemp("load")
    pool = ThreadPoolExecutor(4)
    try:
        yield {
            name: pool.submit(case.run, home / name.replace(" ", "-"))
            for name, case in cases.items()
        }
    finally:
        pool.shutdown(cancel_futures=True)


def test_every_rule_has_a_fault() -> None:
    assert FAULTY.keys() == INVARIANTS.keys()


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_breaks_its_rule(name: str, runs: dict[str, Future[Outcome]]) -> None:
    done = runs[f"faulty {name}"].result(WAIT_S)
    assert done.code == 1, done.text
    assert name in done.broken, done.text
    shown = [one for one in done.results["violations"] if one["invariant"] == name]
    assert shown, "the exchange is not told"
    assert "curl" in shown[0]["script"]
    assert "status" in shown[0]["got"] or name == "cap"
    assert list(done.folder.glob(f"repro-*-{name}.sh"))


@pytest.mark.parametrize("scenario", CLEAN)
def test_nothing_falls_on_a_right_server(scenario: str, runs: dict[str, Future[Outcome]]) -> None:
    done = runs[f"clean {scenario}"].result(WAIT_S)
    assert done.code == 0, done.text
    assert done.broken == set()
    rules = done.results["invariants"]
    assert {name for name in TRIED[scenario] if not rules[name]["checked"]} == set()
    counts = done.results["counts"]
    assert counts["begun"] == counts["judged"] + counts.get("cut", 0)


@pytest.mark.parametrize("name", BROKEN_OFF)
def test_one_reply_that_does_not_end_is_not_lost(
    name: str, runs: dict[str, Future[Outcome]]
) -> None:
    done = runs[name].result(WAIT_S)
    assert done.code == 1 and "answered" in done.broken, done.text
    assert done.results["invariants"]["answered"]["broken"] == 1
    counts = done.results["counts"]
    assert counts["begun"] == counts["judged"]


def test_requests_that_are_turned_away_fail_the_run(runs: dict[str, Future[Outcome]]) -> None:
    done = runs["busy"].result(WAIT_S)
    assert done.code == 1 and "--max-busy-share" in done.text
    assert done.results["with_sessions"]["results"]["busy"] > 0


def test_what_only_goes_wrong_at_once_is_seen(runs: dict[str, Future[Outcome]]) -> None:
    """A server that is right for one user at a time and wrong for several."""
    done = runs["all at once"].result(WAIT_S)
    assert done.code == 1 and "isolation" in done.broken, done.text
