"""Recorded traffic, replayed: the outcome and the cost of every request in it (MAP)."""

import pytest

from tests.claude_code.client import SLACK
from tests.claude_code.replay import Player, records
from tests.protocol.server import Server

RECORDINGS = {
    "with-hints.jsonl": {
        "first": {2, 4, 5},
        "compaction": {13, 14},
        "after compaction": {16},
    },
    "without-hints.jsonl": {
        "first": {2, 4, 5},
        "compaction": {12, 13},
        "after compaction": {15},
    },
}


@pytest.mark.timeout(400)  # a real model on a slow machine
@pytest.mark.parametrize("hints", [True, False], ids=["hints", "no-hints"])
@pytest.mark.parametrize("recording", sorted(RECORDINGS))
def test_every_request_starts_from_its_own_thread(
    fresh: Server, recording: str, hints: bool
) -> None:
    expected = RECORDINGS[recording]
    player = Player(fresh, hints=hints)
    for record in records(recording):
        played = player.play(record)
        what = f"request {played.n} of {played.thread}: {played}"
        if played.n in expected["first"]:
            assert played.answer.outcome == "unknown", what
        elif played.n in expected["after compaction"]:
            # The history was replaced by a summary: read anew, once (MAP-8).
            assert played.answer.outcome == "unmatched", what
        else:
            assert played.answer.outcome == "used", what
            assert played.answer.cost <= played.new + SLACK, what
            assert played.new < played.answer.prompt / 2, what
    # Main, and the two subagents: no side request has made a name.
    assert len(fresh.handles()) == 3
