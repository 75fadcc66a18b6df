"""Traffic against servers that are right, wrong, not set up, and not there."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from halogen_simulator.cli import main
from halogen_simulator.traffic.clients import CLIENTS
from halogen_simulator.traffic.generator import Plan
from halogen_simulator.traffic.recording import load
from halogen_simulator.traffic.replay import Manner
from tests.traffic.simulators import made, play, simulator

SEVERAL = Plan(sessions=3, turns=4, seed=4, words=6, keys=2)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with simulator() as client:
        yield client


@pytest.mark.parametrize("hints", [True, False])
@pytest.mark.parametrize("name", ["with-hints", "without-hints"])
def test_the_recordings(http: httpx.Client, name: str, hints: bool) -> None:
    run, wrong = play(load(name), http, Manner(hints=hints, max_tokens=32))
    assert not wrong
    turns = 4 if name == "with-hints" else 3
    assert Counter((played.kind.name, played.outcome) for played in run) == {
        ("hello", "-"): 4,
        ("first turn", "unknown"): 1,
        ("turn", "used"): turns,
        ("subagent's first", "unknown"): 2,
        ("subagent's turn", "used"): 2,
        ("compaction", "used"): 2,
        ("rewritten history", "unmatched"): 1,
    }


def test_a_second_run_is_another_session(http: httpx.Client) -> None:
    """On one server, with sessions in headers and in the metadata alone."""
    for client in ("2.1.332", "1.0.100"):
        records = made(Plan(turns=8, seed=5, client=client, words=6))
        runs = [play(records, http) for _ in range(2)]
        assert not runs[0][1] + runs[1][1]
        outcomes = [[played.outcome for played in run] for run, _ in runs]
        # What is new may be told from what is there already by now.
        first, second = (
            [one.replace("unknown", "unmatched") for one in outcome] for outcome in outcomes
        )
        assert first == second


def test_codex(http: httpx.Client) -> None:
    (played,), wrong = play(load("codex"), http)
    assert played.status == 200 and played.output and not wrong


@pytest.mark.parametrize("client", sorted(CLIENTS))
@pytest.mark.parametrize("hints", [True, False])
def test_made_up_traffic(http: httpx.Client, client: str, hints: bool) -> None:
    plan = Plan(turns=10, seed=6, client=client, hints=hints, words=6)
    run, wrong = play(made(plan), http)
    assert not wrong
    assert {played.outcome for played in run} == {"-", "used", "unmatched", "unknown"}
    called = [played for played in run if "tool_use" in str(played.placed.record.messages)]
    assert called


def test_many_at_once(http: httpx.Client) -> None:
    one_by_one, _ = play(made(SEVERAL), http)
    with simulator() as other:
        at_once, wrong = play(made(SEVERAL), other, Manner(max_tokens=64, at_once=8))
    assert not wrong
    assert [played.placed.record.n for played in at_once] == [
        played.placed.record.n for played in one_by_one
    ]


DOCUMENT = Path(__file__).parents[2] / "TRAFFIC.md"
ONE = Plan(turns=10, agents=1, seed=5, client="2.1.332-prompt", words=6)
WRONG = {
    "map-never-starts": (ONE, "MAP-1"),
    "map-one-state": (ONE, "MAP-1"),
    "map-agent-only": (Plan(sessions=2, turns=8, seed=3, words=6), "MAP-3"),
    "map-no-parent": (ONE, "MAP-3"),
    "map-newest-only": (ONE, "MAP-1"),
    "map-title-replaces": (ONE, "MAP-1"),
    "map-summary-replaces": (ONE, "MAP-1"),
    "billing-line-is-read": (ONE, "MAP-1"),
    "header-twice": (ONE, "FROM-1"),
    "reads-again": (ONE, "FROM-7"),
    "always-200": (ONE, "neither X-Halogen-From nor usage"),
    "always-404": (ONE, "not answered: status 404"),
}


@pytest.mark.parametrize("fault", sorted(WRONG))
def test_servers_that_are_wrong(fault: str) -> None:
    plan, phrase = WRONG[fault]
    with simulator(fault) as client:
        _, wrong = play(made(plan), client)
    assert any(phrase in problem for problem in wrong), wrong[:3]


def test_the_same_traffic_on_a_right_server(http: httpx.Client) -> None:
    for plan in {plan for plan, _ in WRONG.values()}:
        assert play(made(plan), http)[1] == []


def test_outcomes_that_are_not_told_show_in_the_cost() -> None:
    for fault, right in (("no-header-on-stream", True), ("map-never-starts", False)):
        with simulator(fault) as client:
            client.event_hooks["response"].append(lambda got: got.headers.pop("x-halogen-from", ""))
            run, wrong = play(made(ONE), client)
        assert not any(played.outcomes for played in run)
        assert right == (not wrong)


def test_replay_as_a_command(http: httpx.Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "with-hints", "--base-url", str(http.base_url)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["2", "first", "turn", "0001/main", "unknown", "1802", "1802"]
    assert lines[-1] == "16 requests, every outcome as the protocol demands"
    quiet = ["--no-hints", "--quiet", "--key", "another", "--at-once", "3"]
    assert main(["replay", "with-hints", "--base-url", str(http.base_url), *quiet]) == 0
    assert capsys.readouterr().out.splitlines()[0] == ""


def test_what_the_document_shows(http: httpx.Client, capsys: pytest.CaptureFixture[str]) -> None:
    shown = DOCUMENT.read_text("utf-8").partition("```text\n")[2].partition("```")[0]
    assert main(["replay", "with-hints", "--base-url", str(http.base_url)]) == 0
    assert capsys.readouterr().out == shown


def test_what_a_recording_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without a server: the answers that were recorded."""
    assert main(["replay", "with-hints"]) == 2
    assert "has no answers: give the --base-url of a server" in capsys.readouterr().err
    records = made(Plan(turns=1, words=6))
    answers = [
        {"status": 404, "outcome": None},
        {"status": 200, "outcome": "unknown", "prompt": 50, "cost": 50, "output": 5},
        {"status": 200, "outcome": "used", "prompt": 900, "cost": 30, "output": 5},
    ]
    path = tmp_path / "own.jsonl"
    lines = [
        replace(one, answer=answer).line() for one, answer in zip(records, answers, strict=True)
    ]
    path.write_text("".join(lines))
    assert main(["replay", str(path)]) == 1
    said = capsys.readouterr().out
    assert "unknown         50      50" in said
    assert "! used, where unmatched or unknown is right (nothing of it can be known yet)" in said


def test_traffic_as_a_command(http: httpx.Client, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--turns", "5", "--agents", "1", "--seed", "8", "--hints", "--words", "9"]
    assert main(["traffic", *options, "--base-url", str(http.base_url)]) == 0
    assert "every outcome as the protocol demands" in capsys.readouterr().out


def test_traffic_as_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made.jsonl"
    assert main(["traffic", "--seed", "8", "--out", str(path)]) == 0
    assert main(["traffic", "--seed", "8"]) == 0
    assert path.read_text() == capsys.readouterr().out
    assert load(str(path)) == made(Plan(seed=8))
    assert main(["traffic", "--out", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_a_wrong_server_is_told_off(capsys: pytest.CaptureFixture[str]) -> None:
    with simulator("map-no-parent") as client:
        assert main(["traffic", "--quiet", "--base-url", str(client.base_url)]) == 1
    said = capsys.readouterr().out
    assert "! unknown, where used is right (MAP-3" in said
    assert "requests were not answered as the protocol demands" in said


def test_a_server_that_is_not_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    with simulator(HALOGEN_FORK_MAP="") as client:
        assert main(["replay", "with-hints", "--quiet", "--base-url", str(client.base_url)]) == 1
    assert "HALOGEN_FORK=1 HALOGEN_FORK_MAP=claude-code" in capsys.readouterr().out


def test_a_server_that_is_not_there(
    unused_tcp_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{unused_tcp_port}"
    assert main(["replay", "with-hints", "--base-url", url]) == 3
    said = capsys.readouterr()
    assert said.err.startswith(f"halogen-simulator: no server at {url} (ConnectErr")
    assert (said.err.count("\n"), said.out) == (1, "")


@pytest.mark.parametrize("command", [["replay", "codex"], ["traffic", "--turns", "1"]])
def test_a_server_that_wants_another_key(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HALOGEN_API_KEY", raising=False)
    with simulator(HALOGEN_API_KEY="k-right") as client:
        words = [*command, "--quiet", "--base-url", str(client.base_url)]
        assert main(words) == 3
        assert capsys.readouterr().err.endswith("give it by --key or HALOGEN_API_KEY\n")
        assert main([*words, "--key", "k-wrong"]) == 3
        assert "does not take this key (401)" in capsys.readouterr().err
        monkeypatch.setenv("HALOGEN_API_KEY", "k-right")
        assert main(words) == 0


def test_a_server_of_another_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is answered, so there is no share of anything."""
    with simulator("always-404") as client:
        assert main(["replay", "codex", "--quiet", "--base-url", str(client.base_url)]) == 1
    assert "0 of 0 prompt tokens" not in capsys.readouterr().out


def test_an_address_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "codex", "--base-url", "ftp://there"]) == 2
    assert "--base-url 'ftp://there' is not an http://" in capsys.readouterr().err


def test_a_recording_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "nowhere", "--base-url", "http://127.0.0.1:1"]) == 2
    assert "there are also: codex, with-hints, without-hints" in capsys.readouterr().err
