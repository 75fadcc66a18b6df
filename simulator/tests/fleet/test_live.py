"""The simulation against the simulator's real server: the same agents, over HTTP."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halogen_simulator.fleet.command import main
from halogen_simulator.fleet.live import compare, furthest_apart
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.profile import Profile, dumps, load

Start = Callable[..., str]

# Small texts, so that a run is about names. Think times reach beyond the time to live.
WORKLOAD = Workload(
    programs=6,
    subagents=6,
    turns=5,
    rewrite=0.4,
    side=0.3,
    think_s=120,
    system_tokens=60,
    message_tokens=10,
    result_tokens=20,
    reply_tokens=12,
    summary_tokens=50,
    context=1500,
)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a simulator server with these settings on a free port; gives its URL."""
    running: list[subprocess.Popen[str]] = []

    def serve(*arguments: str, **settings: str) -> str:
        process = subprocess.Popen(
            [sys.executable, "-m", "halogen_simulator", "serve", "--port", "0", *arguments],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                "HALOGEN_FORK": "1",
                **settings,
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert " on http" in line, "the server did not start"
        return line.rsplit(" ", 1)[1].strip()

    yield serve
    for process in running:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize(("cap", "ttl"), [(8, 600), (3, 600), (128, 40)])
def test_one_by_one_every_request_comes_out_as_simulated(start: Start, cap: int, ttl: int) -> None:
    url = start("--test-controls", HALOGEN_FORK_HANDLES=str(cap), HALOGEN_FORK_TTL_S=str(ttl))
    columns = compare(WORKLOAD, url, None, tick=0)
    real, simulated = columns.values()
    assert real.requests > 300
    assert min(real.used, real.unmatched, real.unknown) > 0, "each outcome is seen"
    assert furthest_apart(columns) == 0
    assert (real.requests, real.starts, real.warm) == (
        simulated.requests,
        simulated.starts,
        simulated.warm,
    )
    assert real.by_kind == simulated.by_kind
    assert real.read_share == pytest.approx(simulated.read_share, abs=0.05)


def test_under_load_the_shares_are_within_two_points(start: Start) -> None:
    """Everything that falls into three seconds is sent at once, and races."""
    columns = compare(WORKLOAD, start("--test-controls"), None, tick=3)
    assert columns["on the server"].requests == columns["simulated"].requests
    assert furthest_apart(columns) <= 0.02


SMALL = ["--programs", "2", "--turns", "2", "--fan-out", "0"]


def test_a_server_with_another_rule_is_told_apart(start: Start) -> None:
    """The check can fail: a server that consumes a name when it is read."""
    url = start("--test-controls", "--fault", "consumes-when-read")
    columns = compare(WORKLOAD, url, None, tick=0)
    assert furthest_apart(columns) > 0.02


def test_check_says_what_it_compared(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--base-url", start("--test-controls"), *SMALL]) == 0
    printed = capsys.readouterr().out
    assert "on the server" in printed and "unmatched" in printed


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "said"),
    [
        (["--test-controls"], {"HALOGEN_FORK": "0"}, 2, "HALOGEN_FORK=1"),
        ([], {}, 2, "--test-controls"),
        (["--test-controls"], {"HALOGEN_API_KEY": "right"}, 3, "401"),
    ],
)
def test_check_tells_how_the_server_must_be_started(
    start: Start,
    arguments: list[str],
    settings: dict[str, str],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = start(*arguments, **settings)
    assert main(["check", "--base-url", url, *SMALL]) == code
    assert said in capsys.readouterr().err


def test_a_fit_reads_the_size_of_a_token_and_writes_a_profile_that_loads(
    start: Start, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The figures depend on this machine's load; that there are some does not."""
    url = start("--token-s", "0.004", "--reply-words", "2000")
    out = tmp_path_factory.mktemp("fit") / "fitted.json"
    code = main(["fit", "--base-url", url, "--repeats", "1", "--tokens", "8", "--out", str(out)])
    if code == 0:
        profile = load(str(out))
        assert profile.bytes_per_token > 0
        assert [chunk for chunk, _ in profile.prefill] == [64, 252]
    else:
        assert not out.exists()


def test_a_fit_over_a_socket_writes_a_profile(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs, own = tmp_path / "costs.json", tmp_path / "own.json"
    costs.write_text(dumps(Profile("costs", "", ((64, 2000.0),), 0.001, 0.0002, 500)))
    url = start("--profile", str(costs))
    named = ["--name", "own", "--about", "this machine", "--depth", "600"]
    assert main(["fit", "--base-url", url, *named, "--repeats", "1", "--out", str(own)]) == 0
    profile = load(str(own))
    assert (profile.name, profile.about) == ("own", "this machine")
    assert profile.depth == pytest.approx(600, rel=0.05)
    # Of the last token nothing is in memory yet.
    assert profile.bytes_per_token in (499, 500)
    assert not profile.instant and capsys.readouterr().out == own.read_text()
