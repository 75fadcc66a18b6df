"""The command line from the outside: usage, exit codes, and what the reader is told."""

from __future__ import annotations

import json
import os
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance.cli import main, parser, split

GOLDEN = Path(__file__).parent / "golden"


def test_a_server_that_conforms_is_green(cli: Any, tmp_path: Path) -> None:
    done = cli("check", *cli.only, "--report", "out", "--junit", "j.xml", *cli.command())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Conforms: 2 of 2 tested MUST requirements hold" in done.stdout
    assert cli.verdicts("FROM-5", "LIST-1", "KEEP-1") == ["PASS", "PASS", "N/A"]
    assert ET.parse(tmp_path / "j.xml").getroot().get("failures") == "0"
    checks = next(row["checks"] for row in cli.results()["requirements"] if row["id"] == "FROM-5")
    assert {(one["route"], one["streaming"]) for one in checks} >= {
        (route, way) for route in ("chat", "messages", "responses") for way in (False, True)
    }
    assert "\x1b" not in done.stdout


def test_a_server_that_does_not_is_red_and_the_reader_is_told_all(cli: Any, tmp_path: Path) -> None:
    done = cli("check", *cli.only, "--report", "out", *cli.command("never-unknown"))
    assert done.returncode == 1, done.stdout + done.stderr
    for words in (
        "FAIL FROM-5 (MUST)",
        "on messages, streaming",
        "expected: X-Halogen-From for a name never kept: 'unknown'",
        "actual:   'unmatched'",
        "repeat it with: sh out/repro/FROM-5.sh",
        "Does not conform: 1 of 2 tested MUST requirements fail: FROM-5.",
    ):
        assert words in done.stdout
    assert cli.verdicts("FROM-5", "LIST-1") == ["FAIL", "PASS"]
    script = (tmp_path / "out/repro/FROM-5.sh").read_text(encoding="utf-8")
    assert "curl -sS" in script
    assert "# The server ran with: HALOGEN_FORK=1" in script
    # Without a folder for it, the script is printed.
    printed = cli("check", "--only", "FROM-5", *cli.command("never-unknown")).stdout
    assert all(words in printed for words in ("repeat it with this script", "curl -sS"))


def test_a_known_failure_is_green_and_a_stale_one_is_red(cli: Any, tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text('[[known]]\nid = "FROM-5"\nreason = "soon"\n', encoding="utf-8")
    words = ("check", *cli.only, "--baseline", "known.toml")
    done = cli(*words, *cli.command("never-unknown"))
    assert done.returncode == 0, done.stdout
    assert "FROM-5: soon" in done.stdout
    done = cli(*words, *cli.command())
    assert done.returncode == 1, done.stdout
    assert "the baseline is out of date. FROM-5 passes" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "name the target"),
        (["check", "--"], "there is no command after --"),
        (["check", "http://127.0.0.1:9", "--", "x"], "are two targets"),
        (["check", "ftp://127.0.0.1:9"], "is not an http:// or https:// address"),
        (["check", "not a url"], "is not an http:// or https:// address"),
        (["check", "--ttl", "-1", "http://127.0.0.1:9"], "'-1' is not a number of seconds above 0"),
        (
            ["check", "--ttl", "nan", "http://127.0.0.1:9"],
            "'nan' is not a number of seconds above 0",
        ),
        (
            ["check", "--ttl", "inf", "http://127.0.0.1:9"],
            "'inf' is not a number of seconds above 0",
        ),
        (["check", "--only", "NOPE-1", "http://127.0.0.1:9"], "no requirement or group 'NOPE-1'"),
        (["check", "--only", ",", "http://127.0.0.1:9"], "name at least one"),
        (["check", "--baseline", "none.toml", "http://127.0.0.1:9"], "none.toml: cannot be read"),
        (["check", "--", "no-such-command-here", "{port}"], "no command 'no-such-command-here'"),
        (["explain", "NOPE-1"], "no requirement or group 'NOPE-1'"),
        (["list", "--", "x"], "list takes no command"),
        (["report", "none.ndjson"], "none.ndjson: "),
        (["nonsense"], "invalid choice"),
    ],
)
def test_usage_errors_are_2_and_one_line_says_why(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        code: object = main(words)
    except SystemExit as error:
        code = error.code
    finally:
        os.chdir(before)
    said = capsys.readouterr()
    assert code == 2
    assert message in said.err
    assert "Traceback" not in said.err


def test_nobody_at_the_url_is_3(cli: Any, tmp_path: Path) -> None:
    done = cli("check", "http://127.0.0.1:9", "--report", "out")
    assert done.returncode == 3
    assert "LOST     nobody answers at http://127.0.0.1:9" in done.stdout
    assert cli.results()["exit_code"] == 3


def test_a_command_that_ends_at_once_is_3_and_its_log_is_shown(cli: Any, tmp_path: Path) -> None:
    crash = ["--", sys.executable, "-c", "print('no model here'); raise SystemExit(7)"]
    done = cli("check", *cli.only, *crash)
    assert done.returncode == 3, done.stdout
    assert "exit status 7" in done.stdout
    assert "no model here" in done.stdout


def test_a_target_that_dies_is_3_and_the_run_stops(cli: Any, tmp_path: Path) -> None:
    done = cli("check", *cli.only, "--report", "out", *cli.command("die"))
    assert done.returncode == 3, done.stdout
    assert "the server has died (exit status 3)" in done.stdout
    started = (tmp_path / "out/events.ndjson").read_text(encoding="ascii").count('"test_started"')
    assert started == 1


def test_nothing_tested_is_5(cli: Any, tmp_path: Path) -> None:
    done = cli("check", "--only", "WIRE-1", *cli.command())
    assert done.returncode == 5, done.stdout
    assert "nothing was tested" in done.stdout


def test_a_saved_run_is_rendered_again(
    cli: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(GOLDEN / "events.ndjson"), "--report", str(tmp_path / "out")]) == 0
    assert "No verdict: 1 error(s) in the suite itself" in capsys.readouterr().out
    assert cli.results() == json.loads((GOLDEN / "results.json").read_text("utf-8"))
    broken = tmp_path / "broken.ndjson"
    broken.write_text('{"event": "note"}\n{"event": "note"}\n', encoding="utf-8")
    assert main(["report", str(broken)]) == 2
    assert "broken.ndjson: line 1: note has no `text`" in capsys.readouterr().err
    broken.write_text("a letter\n", encoding="utf-8")
    assert main(["report", str(broken)]) == 2
    assert "broken.ndjson: this is no events.ndjson of a run" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.endswith("nowhere: No such file or directory\n")


def test_list_and_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "from-5", "LIST"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["FROM-5", "LIST-1", "LIST-2"]
    assert main(["explain", "from-5"]) == 0
    said = capsys.readouterr().out
    assert "level:   MUST: if it does not hold, the server does not conform" in said
    assert "why:" in said


def test_a_command_keeps_its_own_dashes() -> None:
    assert split(["check", "--", "a", "--", "b"]) == (["check"], ["a", "--", "b"])
    assert split(["list"]) == (["list"], None)


def test_the_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["check", "--help"]):
        with pytest.raises(SystemExit) as caught:
            parser().parse_args(words)
        assert caught.value.code == 0
        said = capsys.readouterr().out
        assert all(f"\n  {code}  " in said for code in range(6))


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("halogen-conformance ")
