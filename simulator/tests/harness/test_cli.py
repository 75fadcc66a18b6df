"""``halogen-simulator harness`` as a person and a program use it."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from halogen_conformance.drivers import DRIVERS
from halogen_simulator.cli import main
from halogen_simulator.engine import Character
from halogen_simulator.harness.journal import Journal
from halogen_simulator.harness.record import Message
from halogen_simulator.harness.store import Store
from halogen_simulator.harness.transcript import Transcript
from halogen_simulator.script import parse
from tests.harness.server import Served, served

FORKS = """
# two turns, a fork, the parent goes on, and only then the fork
What is fog?
/expect cold
And in summer?
/expect used
/session fork alt
/session switch -
Go on.
/expect used
/session switch alt
Say it otherwise.
/expect used
Go on.
/expect used
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def run(
    server: Served,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run the harness on some lines; the exit code and all it printed."""

    def run(lines: str, *options: str, url: str = server.url) -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        code = main(
            ["harness", "--base-url", url, "--sessions", str(folder), "--script", "-", *options]
        )
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def outcomes(printed: str) -> list[str]:
    return re.findall(r"^  \[(\w+): \d+ evaluated, \d+ reused", printed, re.MULTILINE)


@pytest.mark.parametrize("route", DRIVERS)
def test_sessions_fork_and_go_on(run: Run, route: str, folder: Path) -> None:
    code, printed = run(FORKS, "--route", route, "--tree")
    assert (code, outcomes(printed)) == (0, ["cold", "used", "used", "used", "used"]), printed
    assert printed.count("first token after ") == 5
    parent, alt = sorted(Store(folder).list(), key=lambda one: one.session_id)
    assert parent.transcript and alt.transcript and alt.transcript.fork
    assert alt.transcript.fork.parent_session_id == parent.session_id
    assert [len(one.transcript.messages) for one in (parent, alt) if one.transcript] == [6, 8]
    drawn = re.search(
        r"└── (\S+)  6 messages  █{7}░{3} saved .*\n    └── alt  \+4 messages  █{10} saved", printed
    )
    assert drawn, printed
    assert drawn[1] == parent.session_id
    assert re.search(r"^5 requests, saved [\d,]+ of [\d,]+ prompt tokens \(\d+%\)$", printed, re.M)


@pytest.mark.parametrize("route", DRIVERS)
def test_compaction_is_seen(run: Run, route: str, folder: Path) -> None:
    lines = (
        "What is fog?\n/compact\n/expect used\nGo on.\n/expect unmatched\nAnd on.\n/expect used\n"
    )
    code, printed = run(lines, "--route", route)
    assert code == 0, printed
    assert outcomes(printed) == ["cold", "used", "unmatched", "used"]
    (listed,) = Store(folder).list()
    assert listed.transcript and listed.transcript.compaction
    assert listed.transcript.compaction.removed_message_count == 2
    # What was compacted can still be read.
    (old,) = Journal(listed.path).old_files()
    assert Journal(old).load().transcript.messages[0].text == "What is fog?"


@pytest.mark.parametrize("reference", ["id", "file", "branch"])
def test_resumed_by_another_process(run: Run, server: Served, folder: Path, reference: str) -> None:
    """The fork has made no request yet: it starts from its parent's state all the same."""
    run("What is fog?\n/session fork alt\n")
    (alt,) = [one for one in Store(folder).list() if one.transcript and one.transcript.fork]
    by = {"id": alt.session_id, "file": str(alt.path), "branch": "alt"}[reference]
    command = [sys.executable, "-m", "halogen_simulator", "harness", "--base-url", server.url]
    script = "Say it otherwise.\n/expect used\n/session switch -\n"
    done = subprocess.run(
        [*command, "--sessions", str(folder), "--resume", by],
        input=script,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert f"resumed {alt.session_id} from {alt.path} (2 messages)" in done.stdout
    assert outcomes(done.stdout) == ["used"]
    assert done.stdout.endswith("! there is no session before this one\n")


def test_a_fork_of_a_session_from_elsewhere(run: Run, tmp_path: Path) -> None:
    run("What is fog?\n")
    (tmp_path / "sessions").rename(tmp_path / "elsewhere")
    (file,) = (tmp_path / "elsewhere").glob("*.jsonl")
    lines = "/session fork alt\nGo on.\n/expect used\n"
    code, printed = run(lines, "--resume", str(file), "--tree")
    assert code == 0, printed
    assert re.search(rf"└── {file.stem}  2 messages .*\n    └── alt  \+2 messages", printed)


def test_tools(run: Run, tmp_path: Path) -> None:
    calls = [
        {"name": "calculate", "arguments": {"expression": "6*7"}},
        {"name": "weather", "arguments": {"town": "Quay"}},
        {"name": "read_file", "arguments": {"path": "../secret"}},
    ]
    script = [
        {"when": {"role": "tool"}, "say": "It is foggy."},
        {"when": {"text": "look"}, "say": "I look.", "calls": calls},
    ]
    (tmp_path / "tools.yaml").write_text("[{name: weather, answers: [{say: grey}]}]")
    options = ["--tools", str(tmp_path / "tools.yaml"), "--read", str(tmp_path / "open")]
    for route in DRIVERS:
        with served(character=Character(script=parse(script))) as scripted:
            code, printed = run("Have a look.\n", *options, "--route", route, url=scripted.url)
        assert (code, outcomes(printed)) == (0, ["cold", "used"]), printed
        lines = [line for line in printed.splitlines() if "->" in line]
        assert lines == [
            '  calculate {"expression":"6*7"} -> 42',
            '  weather {"town":"Quay"} -> grey',
            '  read_file {"path":"../secret"} -> (error) ../secret: outside the folder that may '
            "be read",
        ]
        assert printed.splitlines()[-2] == "It is foggy."


def test_a_model_that_calls_for_ever_is_stopped(run: Run) -> None:
    script = [{"say": "", "calls": [{"name": "count_words", "arguments": {"text": "a b"}}]}]
    with served(character=Character(script=parse(script))) as endless:
        code, printed = run("Go.\n", "--most-rounds", "3", url=endless.url)
    assert code == 0 and outcomes(printed) == ["cold", "used", "used"]


def test_a_person_at_a_terminal(server: Served, folder: Path) -> None:
    master, slave = os.openpty()
    command = [sys.executable, "-m", "halogen_simulator", "harness", "--base-url", server.url]
    with subprocess.Popen(
        [*command, "--sessions", str(folder), "--no-tools"],
        stdin=slave,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(slave)
        os.write(master, b"What is fog?\nAnd in summer?\n/quit\n")
        said, _ = process.communicate(timeout=60)
        os.close(master)
    assert process.returncode == 0
    assert said.count("> ") == 3 and outcomes(said) == ["cold", "used"]


def test_status_list_and_export(run: Run, folder: Path, tmp_path: Path) -> None:
    text, lines = tmp_path / "a.md", tmp_path / "a.jsonl"
    code, printed = run(
        "What is fog?\n/session fork  alt \n/status\n/session list\n"
        f"/export {text}\n/export {lines}\n/export {text}\n/help\n/quit\nnever said\n"
    )
    assert code == 1 and f"! {text} is there already; export to another file\n" in printed
    (alt,) = [one for one in Store(folder).list() if one.transcript and one.transcript.fork]
    assert alt.transcript and alt.transcript.fork
    parent = alt.transcript.fork.parent_session_id
    assert re.search(
        rf"^\* {alt.session_id}  2 messages  branch alt  from {parent}$", printed, re.M
    )
    assert re.search(rf"^  {parent}  2 messages$", printed, re.M)
    rows = dict(re.findall(r"^  (\w[\w ]+?)  +(\S.*)$", printed, re.MULTILINE))
    assert rows["session"] == rows["keeps as"] == alt.session_id
    assert (rows["starts from"], rows["from"]) == (parent, f"{parent} (alt)")
    assert rows["this run"] == "0 requests, 0 prompt tokens evaluated, 0 reused"
    assert f"Forked from {parent} as alt." in text.read_text("utf-8")
    assert "## user\n\nWhat is fog?\n\n## assistant\n\n" in text.read_text("utf-8")
    assert Journal(lines).load().transcript.messages == alt.transcript.messages
    assert "/session fork [NAME]" in printed and "never said" not in printed


def test_a_picture(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "forks.svg"
    assert run(FORKS, "--tree-svg", str(picture))[0] == 0
    drawn = picture.read_text("utf-8")
    assert drawn.startswith("<svg") and "alt" in drawn and "saved" in drawn
    # It brings nothing from elsewhere.
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", drawn)


def test_lines_that_go_wrong_stop_nothing(run: Run) -> None:
    code, printed = run("/dance\n/expect used\n/compact\n/session switch x\nHello\n/expect used\n")
    assert code == 1 and outcomes(printed) == ["cold"]
    complaints = [line for line in printed.splitlines() if line.startswith("! ")]
    assert complaints[0] == "! there is no command /dance; /help lists them"
    assert complaints[1].startswith("! expected used, but there is no answered turn")
    assert complaints[2] == "! there is nothing to compact yet"
    assert complaints[3].startswith("! there is no session x in ")
    assert complaints[4] == "! expected used, and it was cold"


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ([{"busy": True}], "! the server answered 529: "),
        ([{"fail_after": 1}], "! the server answered 200: "),
    ],
)
def test_a_turn_that_fails(
    run: Run, folder: Path, script: list[dict[str, object]], complaint: str
) -> None:
    """It is said, what was asked stays in the transcript, and the next turn goes on."""
    with served(character=Character(script=parse([{"times": 1, **script[0]}]))) as failing:
        code, printed = run("What is fog?\nOnce more?\n", url=failing.url)
    assert code == 1 and complaint in printed
    assert outcomes(printed) == ["cold"]
    (listed,) = Store(folder).list()
    assert listed.transcript
    assert [one.role for one in listed.transcript.messages] == ["user", "user", "assistant"]


def test_a_server_with_a_key(run: Run) -> None:
    with served(settings={"HALOGEN_API_KEY": "k1"}) as closed:
        code, printed = run("Hello\n", url=closed.url)
        assert code == 3 and "the server wants a key (401): give it by --key" in printed
        code, printed = run("Hello\n", "--key", "k2", url=closed.url)
        assert code == 3 and "the server does not take this key (401)" in printed
        assert run("Hello\n", "--key", "k1", url=closed.url)[0] == 0


def test_nobody_there(run: Run) -> None:
    code, printed = run("Hello\nAnd again\n", url="http://127.0.0.1:9")
    assert code == 3
    assert printed.count("! cannot connect to 127.0.0.1:9: ") == 1, "once is enough"
    assert "start the server, or give another --base-url" in printed


def test_a_transcript_that_no_api_takes(run: Run, folder: Path) -> None:
    """Written by hand, say: a tool call without a name."""
    call = {"type": "tool_use", "id": "c1", "name": "", "input": "{}"}
    transcript = Transcript.new()
    transcript.messages = [Message.model_validate({"role": "assistant", "blocks": [call]})]
    Store(folder).journal(transcript.session_id).write(transcript)
    code, printed = run("Hello\n", "--resume", transcript.session_id)
    assert code == 1
    (line,) = (line for line in printed.splitlines() if line.startswith("!"))
    assert line.startswith("! this session cannot be sent (") and "mend its transcript" in line


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--resume", "x"], "harness: there is no session x in "),
        (["--tools", "nowhere.yaml"], "harness: the tools of nowhere.yaml cannot be used: "),
        (["--route", "all"], "harness: a session uses one route: --route all is for scenarios"),
        (["--script", "nowhere.txt"], "harness: [Errno 2] No such file or directory"),
        (["--base-url", "ftp://x"], "harness: 'ftp://x' is not an http:// or https:// address"),
    ],
)
def test_wrong_options(run: Run, options: list[str], complaint: str) -> None:
    code, printed = run("", *options)
    assert code == 2 and complaint in printed and printed.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["scenario", "plan", "--workers", "0"], "'0' is not a whole number from 1"),
        (["--max-tokens", "x"], "'x' is not a whole number from 1"),
        (["--timeout", "-1"], "'-1' is not a number of seconds"),
        (["--timeout", "nan"], "'nan' is not a number of seconds"),
        (["scenario", "dance"], "invalid choice: 'dance'"),
    ],
)
def test_odd_values(options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["harness", *options])
    assert caught.value.code == 2 and complaint in capsys.readouterr().err
