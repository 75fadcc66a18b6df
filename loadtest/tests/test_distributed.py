"""Several processes on loopback: what they see is added up, and what goes wrong reaches the end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.launched import ENVIRONMENT, begin, command, load, simulator, wait_for_names

SMALL = (
    "--users=4",
    "--iterations=2",
    "--forks=3",
    "--depth=2",
    "--history-tokens=60",
    "--twins=0.5",
    "--deterministic",
    "--stop-time=5",
    "--run-time=60",
)


@contextmanager
def worker(port: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command("worker", f"--port={port}"), env=ENVIRONMENT)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(20)


def test_processes_on_one_machine(tmp_path: Path) -> None:
    with simulator() as server:
        done = load(tmp_path, server.url, *SMALL, "--processes=2")
    assert done.code == 0, done.text
    results = done.results
    assert len(results["generator"]) == 2
    assert results["counts"]["iterations"] == 8 and results["counts"]["users done"] == 4
    assert results["counts"]["begun"] == results["counts"]["judged"]
    # Names of all users differ, in whichever process they are: nobody meets another's history.
    assert results["with_sessions"]["outcomes"].get("used", 0) > 8 * 3
    rows = (tmp_path / "exchanges.csv").read_text("utf-8").splitlines()
    assert len(rows) - 1 == results["counts"]["judged"]


def test_an_interrupt_typed_at_the_terminal(tmp_path: Path) -> None:
    """It reaches every process at once, and the report has what all of them saw."""
    with simulator("--token-s=0.005") as server:
        words = ("--users=4", "--run-time=60", "--processes=2", "--stop-time=10")
        process = begin(tmp_path, server.url, *words)
        wait_for_names(server.url)
        os.killpg(process.pid, signal.SIGINT)
        text, _ = process.communicate(timeout=60)
    assert process.returncode == 0, text
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert len(results["generator"]) == 2
    assert results["counts"]["begun"] == results["counts"]["judged"] > 0


def test_workers_elsewhere_report_what_goes_wrong(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with simulator("--fault=consumes-when-read") as server, worker(port) as one, worker(port):
        done = load(tmp_path, server.url, *SMALL, "--workers=2", f"--port={port}")
        assert one.wait(20) == 0
    assert done.code == 1, done.text
    assert "outcome-right" in done.broken
    shown = done.results["violations"][0]
    assert shown["worker"] and "curl" in shown["script"]
    assert done.results["counts"]["iterations"] == 8
