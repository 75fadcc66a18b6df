"""The command line's manners: whose settings count, what is never written, how it ends early."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

import halogen_conformance

HOME = str(Path(halogen_conformance.__file__).parent.parent)


def test_workers_and_shuffling_change_nothing(cli: Any, tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    for name, more in (("one", []), ("two", ["-n", "2", "--shuffle", "--seed", "5"])):
        words = ["check", *cli.only, *more, "--report", name, *cli.command("never-unknown")]
        assert cli(*words).returncode == 1
    one, two = cli.results("one"), cli.results("two")
    for data in (one, two):
        for row in data["requirements"]:
            row["checks"] = sorted(
                (one["test"], one["verdict"], one["route"] or "") for one in row["checks"]
            )
    assert one["requirements"] == two["requirements"]
    assert one["sentence"] == two["sentence"]


def test_the_callers_pytest_settings_do_not_reach_the_suite(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", "utf-8")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('not mine')\n", "utf-8")
    done = cli("check", *cli.only, *cli.command(), PYTEST_ADDOPTS="--no-such-option")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conftest.py", "pytest.ini"]
    # ... and it leaves nothing behind, there or beside the installed suite.
    assert not (Path(HOME) / "halogen_conformance/suite/.pytest_cache").exists()


def test_no_key_is_written_anywhere(cli: Any, tmp_path: Path) -> None:
    secret = "sk-very-secret-0123456789"
    folder = tmp_path / "server"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, cli.fake, "0", "echo-key"], stdout=subprocess.PIPE
    ) as fake:
        try:
            assert fake.stdout is not None
            url = fake.stdout.readline().decode().strip()
            words = ("check", *cli.only, "--report", "out", url)
            done = cli(*words, HALOGEN_API_KEY=secret)
        finally:
            fake.terminate()
    assert done.returncode == 1, done.stdout
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 4
    assert all(secret not in path.read_text(encoding="utf-8") for path in files)
    assert secret not in done.stdout + done.stderr
    assert "Bearer [hidden]" in (tmp_path / "out/events.ndjson").read_text(encoding="ascii")
    scripts = [path.read_text("utf-8") for path in (tmp_path / "out" / "repro").iterdir()]
    assert all("$HALOGEN_API_KEY" in script for script in scripts)


def test_pytest_by_hand_gives_the_same(cli: Any, tmp_path: Path) -> None:
    words = ["-p", "halogen_conformance.options", "--pyargs", "halogen_conformance.suite"]
    with subprocess.Popen(
        [sys.executable, cli.fake, "0", "empty-list"], stdout=subprocess.PIPE
    ) as fake:
        try:
            assert fake.stdout is not None
            url = fake.stdout.readline().decode().strip()
            words += ["--base-url", url, "--halogen-report", "out", "-k", "list or from"]
            done = cli(*words, module="pytest")
        finally:
            fake.terminate()
    assert done.returncode == 1, done.stdout
    assert cli.verdicts("FROM-5", "LIST-1") == ["PASS", "FAIL"]


def test_pytest_by_hand_without_a_server_says_what_is_missing(cli: Any, tmp_path: Path) -> None:
    words = ["-p", "halogen_conformance.options", "--pyargs", "halogen_conformance.suite"]
    done = cli(*words, module="pytest")
    assert done.returncode == 4
    assert "say which server to check: --base-url" in done.stdout + done.stderr


def test_the_options_leave_other_pytest_runs_alone(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n", "utf-8")
    done = cli("-p", "halogen_conformance.options", module="pytest")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(("command", "code"), [("list", 0), ("check", 1)])
def test_a_reader_who_leaves_does_not_change_the_exit_code(
    cli: Any, command: str, code: int
) -> None:
    words = [*cli.only, *cli.command("empty-list")] if command == "check" else []
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "halogen_conformance.cli", command, *words],
            cwd=cli.cwd,
            env=cli.environment,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (code, "")


def _runs(*words: str) -> bool:
    """Whether a process has these words among its arguments."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it may end while we look
            if set(words) <= set(path.read_bytes().decode("utf-8", "replace").split("\0")):
                return True
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_no_verdict_and_leaves_no_server(
    cli: Any, number: signal.Signals
) -> None:
    mark = f"mark-{uuid.uuid4()}"
    words = ["check", *cli.only, "--report", "out", *cli.command("stall", mark)]
    stream = cli.cwd / "out/events.ndjson"
    with subprocess.Popen(
        [sys.executable, "-m", "halogen_conformance.cli", *words],
        cwd=cli.cwd,
        env=cli.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not (stream.exists() and '"test_started"' in stream.read_text("ascii")):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        assert _runs(mark)
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 4, said
    assert "No verdict: the run was interrupted before its end." in said
    assert not _runs(mark)


_STALLING = """
import json, os, sys
if sys.argv[2] == "faults":
    print(json.dumps([{"id": "stall", "breaks": ["LIST-1"], "sentence": "Says nothing."}]))
else:
    os.execv(sys.executable, [sys.executable, %r, sys.argv[sys.argv.index("--port") + 1], "stall",
                              sys.argv[1]])
"""


def test_an_interrupted_matrix_leaves_no_trial_and_no_server(cli: Any, tmp_path: Path) -> None:
    mark, script = f"mark-{uuid.uuid4()}", tmp_path / "stalling.py"
    script.write_text(_STALLING % cli.fake, "utf-8")
    words = ["matrix", "--quick", "--trials", "kept", "--", sys.executable, str(script), mark]
    with subprocess.Popen(
        [sys.executable, "-m", "halogen_conformance.cli", *words],
        cwd=cli.cwd,
        env=cli.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not _runs(mark, "stall"):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (
        4,
        "halogen-conformance matrix: interrupted; what was tried is in kept, --missing goes on\n",
    )
    assert not _runs(mark)
    assert not list(tmp_path.glob("kept/*")), "a trial that was ended is no trial"
