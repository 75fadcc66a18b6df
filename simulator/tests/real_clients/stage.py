"""A simulator that is led by a script, and a recorder before it."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from halogen_simulator.traffic.hindsight import Hindsight
from halogen_simulator.traffic.judge import Played, as_recorded, complaint
from halogen_simulator.traffic.proxy import Recorder, proxy
from halogen_simulator.traffic.recording import load
from tests.serving.test_command import serving
from tests.traffic.simulators import listening

SETTINGS = {
    "HALOGEN_FORK": "1",
    "HALOGEN_FORK_MAP": "claude-code",
    "HALOGEN_FORK_HANDLES": "32",
    # These programs' instructions and tools alone are some 20,000 tokens.
    "HALOGEN_CTX": "131072",
    "HALOGEN_KV_POOL_POSITIONS": "2000000",
}


@dataclass
class Stage:
    """What a program talks to, and what came of it."""

    url: str
    http: httpx.Client
    recording: Path

    def answers(self) -> list[Played]:
        """Every request so far with its answer."""
        told = [as_recorded(placed) for placed in Hindsight(load(str(self.recording))).placed()]
        return [played for played in told if played is not None]

    def outcomes(self) -> Counter[tuple[str, str]]:
        """Kinds and outcomes of the requests that ask for a reply."""
        asked = [played for played in self.answers() if played.kind.outcomes]
        return Counter((played.kind.name, played.outcome) for played in asked)

    def complaints(self) -> list[str]:
        """What the protocol does not allow."""
        run = {played.placed.record.n: played for played in self.answers()}
        found = [complaint(one, run.get(one.placed.base or 0)) for one in run.values()]
        return [problem for problem in found if problem]

    def handles(self) -> list[dict[str, Any]]:
        """The live names."""
        listed: list[dict[str, Any]] = self.http.get("/halogen/handles").json()["data"]
        return listed

    def counted(self, route: str, outcome: str) -> int:
        """Requests with an outcome, by the server's own count."""
        page = self.http.get("/metrics").text
        line = rf'^halogen_requests_total{{outcome="{outcome}",route="[^"]*{route}",status="200"}} '
        return sum(int(float(count)) for count in re.findall(line + r"(\S+)$", page, re.MULTILINE))

    def costs(self) -> list[tuple[int, int]]:
        """Prompt tokens and those evaluated of every reply, by the engine's own count."""
        replies = self.http.get("/simulator/state").json()["replies"]
        return [(reply["prompt"], reply["evaluated"]) for reply in replies]


@contextmanager
def staged(folder: Path, script: Sequence[dict[str, Any]]) -> Iterator[Stage]:
    """A stage for one test; its recording is in the folder."""
    lines = folder / "script.json"
    lines.write_text(json.dumps(list(script)), "utf-8")
    recording = folder / "traffic.jsonl"
    with (
        serving("--test-controls", "--script", str(lines), **SETTINGS) as http,
        recording.open("w") as file,
        listening(proxy(str(http.base_url), Recorder(file))) as url,
    ):
        yield Stage(url, http, recording)
