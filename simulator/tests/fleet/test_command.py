"""The sub-command as a person uses it: tables, plots, exit codes, messages."""

import argparse
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from halogen_simulator.fleet.command import add_arguments, main, run

TINY = ["--programs", "2", "--subagents", "3", "--turns", "2"]


def test_run_prints_both_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *TINY, "--profile", "example-accelerator"]) == 0
    printed = capsys.readouterr().out
    assert "with sessions" in printed and "without" in printed
    assert "TTFT p95" in printed and "100.0 %" in printed


def test_a_sweep_draws_the_same_plot_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        given = ["--caps", "2,8,inf", "--ttls", "60,inf", "--policies", "lru,random"]
        plot = ["--plot", str(tmp_path / name)]
        assert main(["sweep", *TINY, "--seeds", "2", *given, *plot]) == 0
    printed = capsys.readouterr().out
    assert printed.count("│ random ") == 2 * 6
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


def test_a_study_has_a_row_for_each_policy_and_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--counts", "1,2", "--policies", "lru,fifo", "--plot", str(tmp_path / "study.svg")]
    assert main(["study", *TINY, "--seeds", "2", *given]) == 0
    printed = capsys.readouterr().out
    assert printed.count("│ lru ") == printed.count("│ fifo ") == 2
    assert "+0.0 ± 0.0" in printed, "a policy does not differ from itself"
    assert (tmp_path / "study.svg").exists() and (tmp_path / "study.png").exists()


def test_more_processes_give_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    tables = []
    for jobs in ("1", "2"):
        given = ["--counts", "1", "--policies", "lru,random", "--seeds", "2", "--jobs", jobs]
        assert main(["study", *TINY, *given]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--policy", "best"], "choose from lru"),
        (["run", "--profile", "fastest"], "give a JSON file"),
        (["run", "--pool", "1000"], "set a larger pool"),
        (["check", "--base-url", "ftp://here"], "--base-url 'ftp://here' is not"),
        (
            ["fit", "--base-url", "http://:9", "--out", "never.json"],
            "--base-url 'http://:9' is not",
        ),
        (["fit", "--depth", "100", "--out", "never.json"], "a depth of at least 504 tokens"),
        (["fit", "--out", "/dev/null/fitted.json"], "/dev/null"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("halogen-simulator fleet: ") and said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["study", "--seeds", "0"],
        ["sweep", "--jobs", "1_0"],
        ["fit", "--repeats", "0", "--out", "never.json"],
        ["check", "--tick", "0"],
        ["check", "--tick", "nan"],
    ],
)
def test_a_number_that_cannot_be_used_is_named(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"argument {arguments[1]}: {arguments[2]!r} is not a" in last


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


def test_every_option_says_what_it_takes_and_what_it_is_without() -> None:
    fleet = argparse.ArgumentParser()
    add_arguments(fleet)
    commands = list(parsers(fleet))
    assert len(commands) == 6
    for command in commands:
        printed = command.format_help()
        assert "exit codes:\n  0  " in printed and "  3  the server cannot" in printed
        assert "None" not in printed and "['" not in printed and "[4.0" not in printed
        for action in (one for one in command._actions if one.option_strings):
            assert action.help, f"{command.prog} {action.dest} has no text"
            if action.nargs != 0:
                assert action.metavar, f"{command.prog} {action.dest} shows its variable"
                default = action.default is not None and action.default != ""
                assert action.help.endswith(")") == default, f"{command.prog} {action.dest}"


@pytest.mark.parametrize("command", ["fit", "check"])
def test_the_help_points_to_the_variable_for_the_key(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert "HALOGEN_API_KEY is better" in " ".join(capsys.readouterr().out.split())


def test_it_plugs_into_another_parser() -> None:
    parser = argparse.ArgumentParser()
    fleet = parser.add_subparsers(required=True).add_parser("fleet")
    add_arguments(fleet)
    args = parser.parse_args(["fleet", "run", *TINY, "--cap", "inf"])
    assert args.cap == math.inf
    assert run(args) == 0


def test_the_options_are_there_before_anything_slow_is_loaded() -> None:
    """The simulator's other commands must not wait for libraries that only the fleet needs."""
    slow = ("simpy", "numpy", "matplotlib", "rich", "httpx")
    code = (
        "import sys, halogen_simulator.fleet.command;"
        f"print([name for name in {slow!r} if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert printed.strip() == "[]"
