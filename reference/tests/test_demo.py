"""The two scripts, `make demo` and `make bench`: that they run, and that they would notice."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.bare import _common
from bench.fanout import decode_rate
from bench.workload import Shape, continuation, history
from demo.brief import task
from demo.process import ServerTrouble, serve
from demo.route import Answer, Ask, Turn
from demo.story import CAP, SCENES, Names, Part, Scene, beginning, story
from demo.verdict import SLACK, Handle, judge, judge_release

REFERENCE = Path(__file__).resolve().parents[1]

ASK = Ask((Turn("user", "Hello."),), 8, start="plan")
USED = Part("worker", ASK, "used", lambda _: 80)
ANSWER = Answer("used", "Hello.", prompt=100, evaluated=20, output=2, first_token=0.1)
TWIN = replace(ANSWER, outcome=None, evaluated=100)


def run(script: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run a script as `make` does, its output going to a file."""
    command = [sys.executable, str(REFERENCE / script / "run.py"), *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=280, check=False, env=environment()
    )


def environment() -> dict[str, str]:
    """A colour setting of the person who runs the tests is not part of what is tested."""
    return {name: value for name, value in os.environ.items() if "COLOR" not in name}


@pytest.mark.timeout(300)
def test_the_demo_plays_the_whole_story() -> None:
    """Every outcome of the protocol is seen, and the exit code says that all were right."""
    done = run("demo", "--short")
    assert done.returncode == 0, done.stdout + done.stderr
    cells = [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in done.stdout.splitlines()
    ]
    outcomes = {row[0]: row[2] for row in cells if len(row) == 8}
    expected = {
        **dict.fromkeys(("plan", "note 1", "note 2"), "kept"),
        **dict.fromkeys(("worker A", "worker B", "worker C", "join", "branch", "worker E"), "used"),
        "edited history": "unmatched",
        **dict.fromkeys(("unknown name", "released name"), "unknown"),
    }
    assert expected.items() <= outcomes.items()
    assert "PASS  all 12 outcomes" in done.stdout
    # Not a terminal: plain lines, one a scene.
    assert f"({SCENES + 1}/{SCENES + 1})" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_demo_says_what_is_wrong_when_the_server_cannot_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HALOGEN_CHECKPOINT", "no-such-model.gguf")
    done = run("demo", "--short")
    assert done.returncode == 2
    assert "no model file at no-such-model.gguf" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_server_ends_with_its_block() -> None:
    quiet = (
        "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler)\n"
    )
    quiet += "print(' on http://127.0.0.1:%d' % s.server_port); s.serve_forever()"
    with serve([sys.executable, "-c", quiet], {}, ready="/") as server:
        os.kill(server.pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


def test_a_server_that_ends_at_its_start_shows_its_log() -> None:
    command = [sys.executable, "-c", "print('the last words'); raise SystemExit(3)"]
    with pytest.raises(ServerTrouble, match=r"(?s)exit code 3.*the last words"), serve(command, {}):
        pass


@pytest.mark.parametrize(
    ("part", "answer", "twin", "wrong"),
    [
        pytest.param(USED, ANSWER, TWIN, None, id="right"),
        pytest.param(
            USED, replace(ANSWER, evaluated=20 + SLACK), TWIN, None, id="cost at its limit"
        ),
        pytest.param(
            USED, replace(ANSWER, evaluated=21 + SLACK), TWIN, "FROM-7", id="used but not reused"
        ),
        pytest.param(USED, replace(ANSWER, outcome="unmatched"), TWIN, "FROM", id="outcome"),
        pytest.param(USED, replace(ANSWER, outcome=None), TWIN, "FROM", id="no outcome"),
        pytest.param(replace(USED, outcome=None), ANSWER, TWIN, "FROM", id="outcome unasked"),
        pytest.param(USED, replace(ANSWER, text="Bye."), TWIN, "FROM-6", id="another reply"),
        pytest.param(USED, replace(ANSWER, prompt=99), TWIN, "FROM-6", id="another prompt size"),
        pytest.param(USED, ANSWER, replace(TWIN, outcome="unknown"), "SWITCH-1", id="switched off"),
    ],
)
def test_the_demo_notices(part: Part, answer: Answer, twin: Answer, wrong: str | None) -> None:
    found = judge(part, answer, twin).wrong
    if wrong is None:
        assert found == ()
    else:
        assert any(wrong in line for line in found)


@pytest.mark.parametrize(
    ("live", "wrong"),
    [
        (("b", "c", "new"), None),
        (("a", "c", "new"), "LIFE-5"),
        (("a", "b", "c"), "LIFE-5"),
        (("a", "b", "c", "new"), "LIFE-3"),
    ],
)
def test_the_demo_notices_a_wrong_release(live: tuple[str, ...], wrong: str | None) -> None:
    before = [Handle("b", 2.0), Handle("a", 1.0), Handle("c", 3.0)]
    assert len(before) == CAP
    found = judge_release(before, [Handle(name, 9.0) for name in live], "new")
    assert bool(found) is (wrong is not None)
    assert all(wrong is not None and wrong in line for line in found)


def played() -> list[Scene]:
    """The story with a server that always says the same."""
    heard: dict[str, Answer] = {}
    scenes = []
    for scene in story(Names(), heard, task()):
        heard |= dict.fromkeys((part.label for part in scene.parts), ANSWER)
        scenes.append(scene)
    return scenes


def test_the_story_has_the_scenes_it_counts() -> None:
    assert len(played()) == SCENES


def test_only_the_edited_history_differs_from_the_plan() -> None:
    parts = {part.label: part.ask.turns for scene in played() for part in scene.parts}
    plan = parts["plan"]
    for label in ("worker A", "join", "branch", "unknown name", "released name", "worker E"):
        assert parts[label][: len(plan)] == plan
    assert parts["edited history"][: len(plan)] != plan


@pytest.mark.parametrize("reply", ["", "a", "one two three four", "onetwothree", " leading"])
def test_a_branch_begins_with_a_beginning(reply: str) -> None:
    partial = beginning(reply)
    assert reply.startswith(partial)
    assert len(partial) < len(reply) or not reply


@pytest.mark.timeout(300)
def test_the_bench_measures_everything_and_never_fails_for_speed(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    sizes = ("--clients", "2", "--tokens", "6", "--sentences", "2")
    done = run("bench", "--rounds", "1", "--alone", *sizes, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text("utf-8"))
    (measured,) = figures["rounds"]
    fan_outs = measured["fan_outs"]
    assert list(fan_outs) == [
        "cold, different histories",
        "cold, the same history",
        "first after the keep",
        "again",
    ]
    assert fan_outs["first after the keep"]["outcomes"] == ["used"]
    assert fan_outs["cold, the same history"]["outcomes"] == []
    cells = measured["cells"]
    assert cells["used"] == cells["history"] + cells["own"]
    assert "load average" in figures["conditions"]
    for title in fan_outs:
        assert title in done.stdout


def test_the_decode_rate_counts_only_while_all_are_decoding() -> None:
    # Both decode from 2.0 to 4.0: two tokens of each come after 2.0.
    assert decode_rate([[0.0, 1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0, 6.0]]) == 2.0
    assert decode_rate([[0.0, 1.0], [2.0, 3.0]]) is None
    assert decode_rate([[0.0, 1.0], []]) is None


def test_the_bare_loop_leaves_each_prompt_a_token_of_its_own() -> None:
    assert _common([[1, 2, 3], [1, 2, 4]]) == 2
    assert _common([[1, 2], [1, 2, 4]]) == 1


def test_the_workload_shares_what_it_says_it_shares() -> None:
    shape = Shape()
    one, two = (continuation(history(shape), "Yes.", client) for client in (0, 1))
    assert one[:-1] == two[:-1]
    assert one[-1] != two[-1]
    assert history(shape, 1)[0]["content"][:9] != history(shape, 2)[0]["content"][:9]
