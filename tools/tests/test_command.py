"""Running a program of the set-up: log, failure, interruption."""

import os
import sys
from pathlib import Path

import pytest

from setup_kit import command
from setup_kit.command import Failed, run
from setup_kit.progress import Progress

ENV = dict(os.environ)


def test_output_goes_to_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "logs" / "x.log"
    run([sys.executable, "-c", "print('[1/1] made')"], label="Making", log=log, env=ENV)
    assert log.read_text() == "[1/1] made\n"
    shown = capsys.readouterr().out
    assert "100% 1/1" in shown
    assert "Making: done" in shown


def test_a_failure_shows_the_end_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    code = "import sys; [print('line', n) for n in range(100)]; print('no room', file=sys.stderr)"
    with pytest.raises(Failed) as caught:
        run([sys.executable, "-c", code + "; sys.exit(3)"], label="Making", log=log, env=ENV)
    told = str(caught.value)
    assert "Making failed (exit code 3)" in told
    assert str(log) in told
    assert "no room" in told
    assert "line 99" in told
    assert "line 60" not in told


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="no-such-program could not be started"):
        run(["no-such-program"], label="Making", log=tmp_path / "x.log", env=ENV)


def test_interrupted_it_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Progress):
        def feed(self, line: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "Progress", Interrupted)
    log = tmp_path / "x.log"
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", code], label="Making", log=log, env=ENV)
    pid = int(log.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
