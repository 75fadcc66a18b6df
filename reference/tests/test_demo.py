"""`make demo`: that it plays to its end, and that it would notice."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from demo.brief import TESTS
from demo.process import ServerTrouble, serve
from demo.route import Answer, Ask, Call, Turn
from demo.run import main
from demo.story import CAP, CHAT, SCENES, Names, Part, Scene, beginning, story
from demo.table import WIDTH
from demo.verdict import SLACK, Handle, judge, judge_release
from tests.scripts import environment, run

SIMULATOR = shlex.join([sys.executable, "-m", "halogen_simulator", "serve", "--port", "0"])
"""The same routes on a model that answers at once."""

ASK = Ask((Turn("user", "Hello."),), 8, start="plan")
USED = Part("worker", CHAT, ASK, "used", lambda _: 80)
ANSWER = Answer("used", "Hello.", prompt=100, evaluated=20, output=2, first_token=0.1)
TWIN = replace(ANSWER, outcome=None, evaluated=100)

CALLING = replace(USED, ask=replace(ASK, tool=TESTS, must_call=True))
CALL = Call(TESTS.name, '{"part":"B"}', "call_1")
CALLED, CALLED_TWIN = (replace(heard, text="", call=CALL) for heard in (ANSWER, TWIN))


Demo = Callable[..., tuple[int, str]]
"""From the demo's options to its exit code and what it prints."""


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Demo]:
    """The demo in this process: the client libraries take long to load, so once is enough."""
    for name in os.environ.keys() - environment().keys():
        monkeypatch.delenv(name)

    def play(*options: str) -> tuple[int, str]:
        return main(options), capsys.readouterr().out

    before = signal.getsignal(signal.SIGTERM)
    yield play
    signal.signal(signal.SIGTERM, before)


EXPECTED = {
    "plan": ("chat", "-", "plan", "kept"),
    "worker A": ("chat", "plan", "-", "used"),
    "worker B": ("messages", "plan", "-", "used"),
    "worker C": ("responses", "plan", "-", "used"),
    "join": ("responses", "plan", "join", "used"),
    "branch 1": ("chat", "plan", "-", "used"),
    "branch 2": ("messages", "plan", "-", "used"),
    "branch 3": ("responses", "plan", "-", "used"),
    "tool call": ("messages", "-", "call", "kept"),
    "tool result": ("responses", "call", "-", "used"),
    "edited": ("messages", "plan", "-", "unmatched"),
    "unknown": ("responses", "nobody", "-", "unknown"),
    "note": ("chat", "-", "note", "kept"),
    "released": ("chat", "join", "-", "unknown"),
    "worker D": ("messages", "plan", "-", "used"),
}


def rows(printed: str) -> dict[str, tuple[str, ...]]:
    """The table as a reader finds it: by its first column."""
    cells = [re.split(r"\s{2,}", line.strip()) for line in printed.splitlines()]
    return {row[0]: tuple(row[1:]) for row in cells if len(row) == 10}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--command", SIMULATOR), id="simulator"),
        # With the model itself, as `make demo` plays it.
        pytest.param((), id="reference", marks=[pytest.mark.soak, pytest.mark.timeout(300)]),
    ],
)
def test_the_demo_plays_the_whole_story(options: tuple[str, ...]) -> None:
    """Every outcome of the protocol is seen on three routes, and the exit code says that all were
    right."""
    done = run("demo", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    found = rows(done.stdout)
    assert {label: found.get(label, ())[:4] for label in EXPECTED} == EXPECTED
    assert f"PASS  all {len(EXPECTED)} outcomes" in done.stdout
    # Not a terminal: plain lines, one a scene, none too long.
    assert f"({SCENES + 1}/{SCENES + 1})" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    assert "\N{HORIZONTAL ELLIPSIS}" not in done.stdout


def test_the_demo_fails_a_server_that_only_says_used(demo: Demo) -> None:
    """The simulator's fault of that kind: every header is answered, nothing is kept."""
    code, printed = demo("--command", f"{SIMULATOR} --fault cosmetic")
    assert code == 1, printed
    assert "WRONG" in printed
    assert "FAIL  not what the protocol says:" in printed
    assert re.search(r"branch 2: .*\(FROM-7\)", printed)


def test_the_demo_says_which_command_it_cannot_run(demo: Demo) -> None:
    code, printed = demo("--command", "no-such-server --port 0")
    assert code == 2
    assert "The demo cannot run" in printed
    assert "no-such-server" in printed


def test_the_demo_says_what_is_wrong_when_the_server_cannot_start(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOGEN_CHECKPOINT", "no-such-model.gguf")
    code, printed = demo()
    assert code == 2
    assert "no model file at no-such-model.gguf" in printed


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
        pytest.param(
            CALLING,
            CALLED,
            replace(CALLED_TWIN, call=replace(CALL, id="call_2")),
            None,
            id="a call, its id the server's own",
        ),
        pytest.param(
            CALLING,
            CALLED,
            replace(CALLED_TWIN, call=replace(CALL, arguments="{}")),
            "FROM-6",
            id="another call",
        ),
        pytest.param(CALLING, ANSWER, TWIN, "tool call", id="no call"),
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


def test_a_list_without_times_tells_the_cap_only() -> None:
    """When a name was last used is this server's own to say (LIST-2)."""
    before = [Handle(name, None) for name in "abc"]
    assert judge_release(before, [Handle(name, None) for name in ("a", "b", "new")], "new") == []
    (line,) = judge_release(before, [Handle(name, None) for name in "abcd"], "d")
    assert "LIFE-3" in line


def test_a_list_that_leaves_names_out_is_noticed() -> None:
    (line,) = judge_release([], [], "new")
    assert "LIST-1" in line


def played(answer: Answer = CALLED) -> list[Scene]:
    """The story with a server that always says the same."""
    heard: dict[str, Answer] = {}
    scenes = []
    for scene in story(Names(), heard):
        heard |= dict.fromkeys((part.label for part in scene.parts), answer)
        scenes.append(scene)
    return scenes


def test_the_story_has_the_scenes_it_counts() -> None:
    assert len(played()) == SCENES


def test_without_a_call_there_is_no_result_to_give() -> None:
    labels = [part.label for scene in played(ANSWER) for part in scene.parts]
    assert "tool call" in labels
    assert "tool result" not in labels
    assert labels[-1] == "worker D"


def test_only_the_edited_history_differs_from_the_plan() -> None:
    parts = {part.label: part.ask.turns for scene in played() for part in scene.parts}
    plan = parts["plan"]
    for label in ("worker A", "join", "branch 3", "unknown", "released", "worker D"):
        assert parts[label][: len(plan)] == plan
    assert parts["edited"][: len(plan)] != plan


def test_every_route_starts_from_a_name_another_kept() -> None:
    parts = [part for scene in played() for part in scene.parts]
    kept = {part.ask.keep: part.route for part in parts if part.ask.keep}
    crossed = {
        (kept[part.ask.start], part.route)
        for part in parts
        if part.outcome == "used" and part.ask.start
    }
    assert {("chat", "messages"), ("chat", "responses"), ("messages", "responses")} <= crossed


@pytest.mark.parametrize("reply", ["", "a", "one two three four", "onetwothree", " leading"])
def test_a_branch_begins_with_a_beginning(reply: str) -> None:
    partial = beginning(reply)
    assert reply.startswith(partial)
    assert len(partial) < len(reply) or not reply
