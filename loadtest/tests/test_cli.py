"""The command as people and CI jobs use it: its exit codes, its report, a server that dies."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from halogen_loadtest.cli import main
from halogen_loadtest.target import Target, TargetLost
from tests.launched import ENVIRONMENT, begin, command, load, simulator, wait_for_names

SMALL = ("--users=1", "--iterations=1", "--forks=2", "--depth=2", "--history-tokens=60")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run"], "name one server"),
        (["run", "http://127.0.0.1:1", "--", "a-server"], "name one server"),
        (["run", "--"], "no command after --"),
        (["worker", "--", "a-server"], "worker takes no command"),
        (["run", "ftp://there"], "is not the address of a server"),
        (["run", "http://127.0.0.1:1", "--twins", "2"], "--twins is a share"),
        (["run", "http://127.0.0.1:1", "--forks", "0"], "--forks must be at least 1"),
        (["run", "http://127.0.0.1:1", "--scenario", "nonsense"], "invalid choice"),
        (["run", "http://127.0.0.1:1", "--compare", "--iterations", "2"], "--compare"),
        (["run", "http://127.0.0.1:1", "--workers", "1", "--processes", "1"], "give one"),
        (["run", "http://127.0.0.1:1", "--users", "0"], "'0' is not a whole number from 1"),
        (["run", "http://127.0.0.1:1", "--port", "http"], "'http' is not a port number"),
        (["run", "http://127.0.0.1:1", "--spawn-rate", "x"], "'x' is not a number above 0"),
        ([], "COMMAND"),
    ],
)
def test_usage_errors(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2 and complaint in capsys.readouterr().err


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", f"http://127.0.0.1:{free_port()}"]) == 3
    said = capsys.readouterr().err
    assert "does not answer" in said and "is the server running there?" in said


def test_a_command_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--", "no-such-command-here"]) == 2
    said = capsys.readouterr().err
    assert "'no-such-command-here' cannot be run" in said and said.count("\n") == 1


def test_a_server_that_wants_another_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with simulator(HALOGEN_API_KEY="secret-key-1") as server:
        assert main(["run", server.url]) == 3
        assert "wants a key: put it into HALOGEN_API_KEY (401)" in capsys.readouterr().err
        monkeypatch.setenv("HALOGEN_API_KEY", "secret-key-2")
        assert main(["run", server.url]) == 3
    said = capsys.readouterr().err
    assert "does not take the key in HALOGEN_API_KEY (401)" in said and "secret" not in said


def test_a_server_without_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    with simulator(HALOGEN_FORK="0") as server:
        assert main(["run", server.url]) == 5
    assert "HALOGEN_FORK=1" in capsys.readouterr().err


def test_a_server_of_its_own(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "halogen_simulator", "serve", "--port", "{port}"]
    done = load(tmp_path, *SMALL, "--", *server)
    assert done.code == 0, done.text
    with pytest.raises(TargetLost):
        Target(done.results["target"]).names()


def test_a_server_that_does_not_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--", sys.executable, "-c", "1"]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_told_to_end_before_its_server_answers(tmp_path: Path) -> None:
    """The server it started goes with it."""
    noted = tmp_path / "pid"
    code = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    process = begin(tmp_path, *SMALL, "--", sys.executable, "-c", code)
    until = time.monotonic() + 60
    while not (noted.exists() and noted.read_text()):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 4
    assert not psutil.pid_exists(int(noted.read_text()))


def test_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios"]) == 0
    assert "claude-code" in capsys.readouterr().out


def test_a_threshold_that_is_missed_and_what_is_written(tmp_path: Path) -> None:
    with simulator(HALOGEN_API_KEY="secret-key-1") as server:
        done = load(
            tmp_path,
            server.url,
            *SMALL,
            "--max-ttft-p95=0.000001",
            "--min-used-share=1",
            HALOGEN_API_KEY="secret-key-1",
        )
    assert done.code == 1, done.text
    assert done.results["reasons"] == [
        one for one in done.results["reasons"] if one.startswith("--max-ttft-p95")
    ]
    assert done.broken == set()
    rows = list(csv.DictReader((tmp_path / "exchanges.csv").read_text("utf-8").splitlines()))
    assert len(rows) == done.results["counts"]["judged"]
    assert {row["step"] for row in rows} >= {"keep", "fork", "join", "after the join"}
    stats = json.loads((tmp_path / "locust.json").read_text("utf-8"))
    kinds = {(row["method"], row["name"]) for row in stats}
    assert {
        ("TTFT", "fork"),
        ("GAP", "between pieces"),
        ("WALL", "fan-out"),
        ("TOKENS", "evaluated"),
        ("TOKENS", "reused"),
    } <= kinds
    for path in tmp_path.iterdir():
        assert "secret-key-1" not in path.read_text("utf-8"), path


def test_with_and_without_in_one_run(tmp_path: Path) -> None:
    with simulator("--token-s=0.002") as server:
        words = ("--compare", "--users=2", "--run-time=4", "--forks=2", "--history-tokens=200")
        done = load(tmp_path, server.url, *words, "--stop-time=5", "--twins=0")
    assert done.code == 0, done.text
    halves = done.results["with_sessions"], done.results["without_sessions"]
    assert all(half["requests"] > 0 for half in halves)
    assert halves[0]["outcomes"]["used"] > 0 and halves[1]["outcomes"] == {}
    read = [half["tokens"]["evaluated"] / half["tokens"]["prompt"] for half in halves]
    assert read[0] < 0.8 and read[1] == 1.0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "with sessions" in page and "without" in page


def test_arrivals_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Open load: replies take longer than the time between arrivals, so several are under way."""
    with simulator("--token-s=0.05", "--reply-words=10", HALOGEN_FORK_HANDLES="64") as server:
        words = ("--shape=open", "--arrivals=20", "--run-time=2", "--scenario=conversation")
        done = load(tmp_path, server.url, *words, "--depth=1", "--twins=0", "--stop-time=10")
    assert done.code == 0, done.text
    assert done.results["most_open"] > 3


def test_a_server_that_dies(tmp_path: Path) -> None:
    with simulator("--token-s=0.01") as server:
        process = begin(tmp_path, server.url, "--users=2", "--run-time=4")
        wait_for_names(server.url)
        server.process.send_signal(signal.SIGKILL)
        text, _ = process.communicate(timeout=60)
    assert process.returncode == 3, text
    assert "died" in text


def test_told_to_end_it_still_reports(tmp_path: Path) -> None:
    with simulator("--token-s=0.01") as server:
        process = begin(tmp_path, server.url, "--run-time=60", "--stop-time=3")
        wait_for_names(server.url)
        process.terminate()
        text, _ = process.communicate(timeout=60)
    assert process.returncode == 0, text
    assert (tmp_path / "report.html").exists()


def test_a_reader_that_leaves_does_not_end_the_run(tmp_path: Path) -> None:
    """``halogen-loadtest run ... | head``: the verdict is the run's, and the report is written."""
    reading, writing = os.pipe()
    os.close(reading)
    with simulator() as server, os.fdopen(writing, "wb") as nobody:
        ended = subprocess.run(
            command("run", server.url, *SMALL, "--report", str(tmp_path)),
            env=ENVIRONMENT,
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            timeout=90,
            check=False,
        )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "report.html").exists()
