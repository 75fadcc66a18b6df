"""RESTART-4: killed at any moment, what is listed afterwards is whole."""

import random
import threading
import time

import httpx
import pytest

from tests import matrix
from tests.protocol.client import Kept, Talk
from tests.protocol.waiting import eventually
from tests.restart.comeback import goes_on, keep
from tests.restart.conftest import MakeComeback

NAMES = 4


@pytest.mark.timeout(400)  # it starts a server as often as it kills one
@pytest.mark.parametrize("kills", sorted(set(matrix.KILLS.values())))
def test_restart_4_killed_again_and_again_under_load(comeback: MakeComeback, kills: int) -> None:
    server = comeback()
    chance = random.Random(7)
    talk = server.start()
    history: dict[str, list[Kept]] = {f"name-{number}": [] for number in range(NAMES)}
    survived = 0
    for kill in range(kills):
        load = [
            threading.Thread(target=_load, args=(talk, name, kill, versions))
            for name, versions in history.items()
        ]
        for thread in load:
            thread.start()
        if not kill:
            # A slow model gets time for its first reply: of what was never written nothing is left.
            # A file is enough: kept anew all the time, a name's newest state is seldom on disk.
            eventually(server.files, "a name on disk")
        # Any moment: before, in and after the replies and the writes of this round.
        time.sleep(chance.uniform(0.0, 0.3))
        server.kill()
        for thread in load:
            thread.join()
        talk = server.start()
        for name in talk.server.handles():
            _is_whole(talk, history[name])
            survived += 1
    assert survived >= kills, "hardly a name survived: nothing was tested"


def _load(talk: Talk, name: str, kill: int, versions: list[Kept]) -> None:
    """Keep one version after another under a name until the server is gone."""
    for number in range(100):
        version = f"Round {kill}, version {number} of {name}?"
        try:
            kept = keep(talk, name, version)
        except httpx.TransportError:
            return
        versions.append(kept)


def _is_whole(talk: Talk, versions: list[Kept]) -> None:
    """A listed name holds one of the versions that were kept under it, whole. The very last may
    have been kept without its answer having arrived: then the name's newer state is nobody's."""
    for kept in reversed(versions[-8:]):
        answer = talk.ask(kept.then("And then?"), start=kept.name)
        if answer.outcome == "used":
            goes_on(talk, kept)
            return
        assert answer.outcome == "unmatched"
        assert answer.text == talk.ask(kept.then("And then?")).text


def test_a_kill_loses_only_what_was_being_written(comeback: MakeComeback) -> None:
    server = comeback()
    talk = server.start()
    kept = [keep(talk, f"plan-{number}", f"Question {number}?") for number in range(3)]
    server.written(*(conversation.name for conversation in kept))
    server.kill()
    talk = server.start()
    for conversation in kept:
        goes_on(talk, conversation)
