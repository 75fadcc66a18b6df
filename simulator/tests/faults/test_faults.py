"""Every fault changes an answer that a right server gives otherwise."""

import re
from pathlib import Path

import pytest

from halogen_simulator.faults.table import FAULTS
from tests.faults import (
    scenes_of_keeping,
    scenes_of_life,
    scenes_of_programs,
    scenes_of_starts,
)
from tests.faults.scene import Scene

REQUIREMENTS = Path(__file__).parents[3] / "conformance" / "REQUIREMENTS.md"

SCENES: dict[Scene, str] = {
    scenes_of_starts.goes_on: """always-200 always-404 cosmetic keeps-nothing never-used
        no-end-of-turn loses-last-words counts-new-only reads-again
        reads-half-again other-words-when-used list-hides-newest list-is-empty""",
    scenes_of_starts.hot: "matches-token-ids",
    scenes_of_starts.off: "active-when-off map-without-fork",
    scenes_of_starts.plain: "header-on-everything",
    scenes_of_starts.streamed: "no-header-on-stream header-twice no-keep-on-stream",
    scenes_of_starts.misses: "header-only-when-used unknown-is-unmatched unmatched-is-unknown",
    scenes_of_starts.on_responses: "no-headers-on-responses",
    scenes_of_keeping.long_names: "odd-names-break-it",
    scenes_of_keeping.kept_again: "never-replaces rekeep-adds-a-name",
    scenes_of_keeping.kept_at_once: "keeps-mixed",
    scenes_of_keeping.broken_off: "keeps-unfinished",
    scenes_of_keeping.refused: "keeps-refused failed-keep-releases",
    scenes_of_keeping.abandoned: "keeps-abandoned",
    scenes_of_starts.forked_in_turn: "consumes-when-read sibling-leak",
    scenes_of_starts.forked_at_once: "one-reader-at-a-time",
    scenes_of_keeping.joined: "fork-overwrites-parent join-releases-parent",
    scenes_of_keeping.moved_forward: "join-stays",
    scenes_of_keeping.kept_beside_a_miss: "no-keep-beside-a-miss",
    scenes_of_starts.across_routes: "routes-apart",
    scenes_of_starts.other_histories: """matches-by-name matches-by-similarity matches-by-length
        ignores-system ignores-tools ignores-reply compares-users-only accepts-shorter
        miss-releases""",
    scenes_of_starts.spelled: "cache-marks-count blocks-count",
    scenes_of_starts.used_a_tool: "key-order-counts forgets-calls",
    scenes_of_starts.ended: "keeps-stop-string loses-cut-token",
    scenes_of_starts.branched: """no-branch-on-chat no-branch-on-messages no-branch-on-responses
        branch-repeats branch-too-early""",
    scenes_of_starts.branched_elsewhere: "branch-from-anything",
    scenes_of_keeping.branch_kept: "branch-keeps-tail",
    scenes_of_life.unused: "never-expires expires-in-list-only",
    scenes_of_life.used_in_time: "ttl-from-creation reading-is-no-use",
    scenes_of_life.used_for_long: "ttl-runs-in-use",
    scenes_of_life.listed: "listing-is-use",
    scenes_of_life.crowded: """ignores-cap cap-one-too-many refuses-at-cap shows-released
        evicts-newest""",
    scenes_of_life.kept_again_when_full: "rekeep-evicts",
    scenes_of_life.released_in_use: "release-kills-users",
    scenes_of_life.restarted: "restart-forgets restart-brings-one restart-reads-again",
    scenes_of_life.restarted_without_folder: "remembers-without-folder",
    scenes_of_life.damaged: "trusts-damaged-files",
    scenes_of_life.another_model: "trusts-other-models",
    scenes_of_life.killed: "notes-names-first",
    scenes_of_life.down_for_long: "time-stops-when-down",
    scenes_of_life.path_like_names: "names-are-paths",
    scenes_of_programs.keys: """list-is-open no-key-is-fine any-key-is-fine one-shape-for-401
        bearer-only x-api-key-only""",
    scenes_of_programs.threads: "map-never-starts map-one-state",
    scenes_of_programs.one_agent_in_two_sessions: "map-agent-only",
    scenes_of_programs.forked_agent: "map-no-parent",
    scenes_of_programs.side_requests: "map-newest-only map-title-replaces map-summary-replaces",
    scenes_of_programs.thread_names: "map-guessable map-keys-share",
    scenes_of_programs.no_mapping: "map-always",
    scenes_of_programs.billing_line: "billing-line-is-read billing-quotes-go",
}
PAIRS = [(fault, scene) for scene, faults in SCENES.items() for fault in faults.split()]

RIGHT: dict[Scene, object] = {
    scenes_of_starts.goes_on: (("used",), True, True, ["a"]),
    scenes_of_starts.hot: ["used"] * 3,
    scenes_of_starts.off: ((), (), 404),
    scenes_of_starts.plain: (),
    scenes_of_starts.streamed: ("used",),
    scenes_of_starts.misses: (("unknown",), ("unmatched",)),
    scenes_of_starts.on_responses: ("used",),
    scenes_of_keeping.long_names: [200, 200, 200, 200],
    scenes_of_keeping.kept_again: (("used",), ["a"]),
    scenes_of_keeping.kept_at_once: True,
    scenes_of_keeping.broken_off: (500, True),
    scenes_of_keeping.refused: (400, True),
    scenes_of_keeping.abandoned: True,
    scenes_of_starts.forked_in_turn: [("used", True)] * 3,
    scenes_of_starts.forked_at_once: [("used", True)] * 4,
    scenes_of_keeping.joined: (True, True, ["a", "b"]),
    scenes_of_keeping.moved_forward: ("used", True, ["a"]),
    scenes_of_keeping.kept_beside_a_miss: (True, True),
    scenes_of_starts.across_routes: "used",
    scenes_of_starts.spelled: ["used"] * 3,
    scenes_of_starts.used_a_tool: ([("used", True)] * 2, "unmatched"),
    scenes_of_starts.ended: [("used", True)] * 2,
    scenes_of_starts.branched: [("used", True)] * 6,
    scenes_of_starts.branched_elsewhere: ("unmatched", True),
    scenes_of_keeping.branch_kept: "used",
    scenes_of_life.unused: ([], "unknown"),
    scenes_of_life.used_in_time: [True, True, True],
    scenes_of_life.used_for_long: (["a"], ["a"]),
    scenes_of_life.listed: [["a"], ["a"], []],
    scenes_of_life.crowded: ([200] * 5, ["n2", "n3", "n4"], ["n2", "n3", "n4"]),
    scenes_of_life.kept_again_when_full: ["a", "b"],
    scenes_of_life.released_in_use: (200, ["b"]),
    scenes_of_life.restarted: [["a", "b"], ("used", True, True), ("used", True, True)],
    scenes_of_life.restarted_without_folder: ([], "unknown"),
    scenes_of_life.damaged: ([], "unknown"),
    scenes_of_life.another_model: "unknown",
    scenes_of_life.killed: [],
    scenes_of_life.down_for_long: "unknown",
    scenes_of_life.path_like_names: ["in"],
    scenes_of_programs.threads: [("used", "used")] * 2,
    scenes_of_programs.one_agent_in_two_sessions: [("used", "used")] * 2,
    scenes_of_programs.forked_agent: "used",
    scenes_of_programs.side_requests: ["used"] * 3,
    scenes_of_programs.thread_names: ([False], "unknown"),
    scenes_of_programs.no_mapping: ((), []),
    scenes_of_programs.billing_line: ("used", True, False),
}


def _title(scene: Scene) -> str:
    return getattr(scene, "__name__", "scene")


@pytest.mark.parametrize("scene", SCENES, ids=_title)
async def test_a_right_server(scene: Scene, tmp_path: Path) -> None:
    seen = await scene(None, tmp_path)
    if scene in RIGHT:
        assert seen == RIGHT[scene]


@pytest.mark.parametrize(("fault", "scene"), PAIRS, ids=[fault for fault, _ in PAIRS])
async def test_a_fault_shows(
    fault: str, scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "right").mkdir()
    (tmp_path / "wrong").mkdir()
    right = await scene(None, tmp_path / "right")
    wrong = await scene(FAULTS[fault], tmp_path / "wrong")
    assert wrong != right
    # A mistake, not a crash: what fails by itself shows nothing about the rule.
    assert not [record for record in caplog.records if record.exc_info]


def test_every_fault_has_its_scene() -> None:
    assert sorted(fault for fault, _ in PAIRS) == sorted(FAULTS)


def test_every_rule_has_its_fault() -> None:
    table = REQUIREMENTS.read_text("utf-8")
    rows = dict(re.findall(r"^\| ([A-Z]+-\d+) \| (\w+) \|", table, re.MULTILINE))
    must = {row for row, level in rows.items() if level == "MUST"}
    assert len(must) > 40
    assert must - {fault.breaks[0] for fault in FAULTS.values()} == set()
    assert {row for fault in FAULTS.values() for row in fault.breaks} <= set(rows)
