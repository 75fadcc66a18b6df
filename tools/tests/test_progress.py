"""The display of a long build, on a terminal and in a log."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setup_kit.progress import Progress, Step, read_step


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("  [34/83] /usr/bin/c++ -o x.o", Step(34, 83)),
        ("[83/83] Linking", Step(83, 83)),
        ("[ 41%] Building CXX object", Step(41, 100)),
        ("[100%] Built target llama", Step(100, 100)),
        ("  Downloading package.tar.gz (76.6 MB)", None),
        ("warning: array[3/4] is odd", None),
        ("[5/0] nothing to do", None),
        ("[9/3] more than all", None),
        ("[999%] nonsense", None),
    ],
)
def test_reads_the_steps_of_ninja_and_make(line: str, step: Step | None) -> None:
    assert read_step(line) == step


@given(st.text())
def test_any_output_is_read(line: str) -> None:
    step = read_step(line)
    assert step is None or 0.0 <= step.share <= 1.0


def test_a_log_gets_a_line_each_tenth_and_no_control_characters() -> None:
    out = io.StringIO()
    progress = Progress("Compiling", out)
    for done in range(1, 201):
        progress.feed(f"[{done}/200] c++\n")
    progress.end("done")
    lines = out.getvalue().splitlines()
    assert lines[0] == "Compiling ..."
    assert len(lines) == 1 + 10 + 1
    assert " 50% 100/200 " in lines[5]
    assert lines[-1].startswith("Compiling: done (")
    assert "\r" not in out.getvalue()


def test_a_terminal_gets_one_line_redrawn() -> None:
    out = Terminal()
    progress = Progress("Compiling", out)
    progress.feed("Downloading engine-1.tar.gz (76.6 MB)\n")
    assert "Downloading engine-1.tar.gz" in out.getvalue()
    progress.feed("[1/2] c++\n")
    progress.feed("a warning\n")
    progress.feed("[2/2] c++\n")
    assert "\n" not in out.getvalue()
    progress.end("done")
    assert out.getvalue().count("\n") == 1
    assert "100% 2/2" in out.getvalue()


def test_a_terminal_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    out = Terminal()
    progress = Progress("Compiling", out)
    progress.feed("Downloading " + "x" * 200)
    progress.feed("[1/2] c++")
    assert max(map(len, out.getvalue().split("\r"))) < 30


def test_the_display_never_goes_back() -> None:
    out = Terminal()
    progress = Progress("Compiling", out)
    for done in (90, 10, 91):
        progress.feed(f"[{done}/100] c++\n")
    assert "90/100" in out.getvalue()
    assert " 10/100" not in out.getvalue()
