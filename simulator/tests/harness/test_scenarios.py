"""The scenarios: as expected on a server that is right, and never on one that is wrong."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Options
from halogen_simulator.cli import main
from halogen_simulator.engine import Character
from halogen_simulator.harness.scenarios.best_of import beginning
from halogen_simulator.harness.scenarios.run import CannotPlay, Played, Plays
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Broken
from halogen_simulator.harness.scenarios.table import SCENARIOS
from halogen_simulator.script import parse
from tests.harness.server import Served, served

OPTIONS = Options(max_tokens=24, stream=True)
ASKED = {"plan": 13, "best-of": 7, "tree": 13, "reviewers": 14}


def plays(url: str, scenario: str, route: str = "chat", size: Size | None = None) -> Plays:
    return Plays(Client(url), [scenario], [route], OPTIONS, size or Size())


def played(url: str, scenario: str, route: str = "chat") -> Played:
    (one,) = plays(url, scenario, route).run()
    return one


@pytest.mark.parametrize("route", DRIVERS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_as_expected(server: Served, scenario: str, route: str) -> None:
    one = played(server.url, scenario, route)
    assert one.deviations == []
    asked = [step for step in one.steps if not step.twin]
    assert len(asked) == ASKED[scenario]
    assert [step.cost.outcome for step in asked] == ["cold", *["used"] * (len(asked) - 1)]
    assert all(step.cost.first_token_s is not None for step in asked)
    # The kept part is reused by every request but the first; its twin reads all of it.
    assert all((step.cost.reused or 0) > 200 for step in asked[1:])
    assert all(step.cost.reused == 0 for step in one.steps if step.twin)
    assert f"{scenario} on {route}: as expected ({ASKED[scenario]} requests, " in one.line()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_keeps_as_many_names_as_it_says(scenario: str) -> None:
    """Not one more: with that many names the server never has to release one."""
    size = Size()
    needed = SCENARIOS[scenario].names(size)
    with served(settings={"HALOGEN_FORK_HANDLES": str(needed)}) as exact:
        assert played(exact.url, scenario).deviations == []
        listed = Client(exact.url).names()
        assert listed and listed.count == needed


def test_other_sizes(server: Served) -> None:
    size = Size(workers=1, depth=1, breadth=1)
    for scenario in SCENARIOS:
        (one,) = plays(server.url, scenario, size=size).run()
        assert one.deviations == [], scenario
    (one,) = plays(server.url, "tree", size=Size(depth=2, breadth=3)).run()
    assert one.deviations == [] and sum(not step.twin for step in one.steps) == 1 + 3 + 9 + 2


# Server's mistake -> scenario, and how a line about it begins or goes on.
WRONG: Sequence[tuple[str, str, str]] = (
    ("cosmetic", "plan", "worker 1: "),
    ("reads-again", "plan", "worker 1: "),
    ("reads-half-again", "tree", "prompt tokens evaluated, only"),
    ("sibling-leak", "plan", "without the headers"),
    ("one-reader-at-a-time", "plan", "without the headers"),
    ("other-words-when-used", "reviewers", "without the headers"),
    ("loses-last-words", "tree", "without the headers"),
    ("never-used", "plan", "X-Halogen-From is unmatched, it should be used"),
    ("keeps-nothing", "plan", "X-Halogen-From is unknown, it should be used"),
    ("consumes-when-read", "plan", "X-Halogen-From is unknown, it should be used"),
    ("fork-overwrites-parent", "plan", "X-Halogen-From is unmatched, it should be used"),
    ("join-stays", "plan", "worker 1, at last: "),
    ("join-releases-parent", "plan", "the plan as it was: X-Halogen-From is unknown"),
    ("header-twice", "plan", "X-Halogen-From is used, used, it should be used"),
    ("header-on-everything", "plan", "plan: X-Halogen-From says"),
    ("no-header-on-stream", "plan", "X-Halogen-From is absent, it should be used"),
    ("no-branch-on-chat", "best-of", "candidate 1: X-Halogen-From is unmatched"),
    ("branch-repeats", "best-of", "candidate 1: what was sent of the reply is said again"),
    ("branch-too-early", "best-of", "without the headers"),
    ("branch-keeps-tail", "best-of", "from the best: X-Halogen-From is unmatched"),
    ("always-404", "reviewers", "draft: not answered (status 404"),
)


@pytest.mark.parametrize(("fault", "scenario", "complaint"), WRONG)
def test_a_server_that_is_wrong(fault: str, scenario: str, complaint: str) -> None:
    with served(fault) as wrong:
        one = played(wrong.url, scenario)
    assert any(complaint in line for line in one.deviations), one.deviations
    assert all(line.startswith(f"{scenario} on chat, ") for line in one.deviations)
    assert "NOT as expected" in one.line()


def test_a_server_without_sessions() -> None:
    with served(settings={"HALOGEN_FORK": "0"}) as off:
        one = played(off.url, "plan")
    assert one.sessions_off and one.deviations[0].endswith(
        "worker 1: X-Halogen-From is absent, it should be used"
    )


def test_a_server_whose_words_change() -> None:
    """Told so, no texts are compared, and the rest is."""
    with served("other-words-when-used") as changing:
        (one,) = replace(plays(changing.url, "plan"), deterministic=False).run()
        assert one.deviations == []
    with served("reads-again") as wrong:
        (one,) = replace(plays(wrong.url, "plan"), deterministic=False).run()
        assert one.deviations != []


@pytest.mark.parametrize("say", ["", "one"])
def test_a_reply_too_short_to_branch_in(say: str) -> None:
    script = parse([{"when": {"text": "Count"}, "say": say}])
    with served(character=Character(script=script)) as brief:
        one = played(brief.url, "best-of")
    assert one.deviations == [
        f"best-of on chat, the reply {say!r} is too short to branch from inside it"
    ]


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        ("one, two, three", "one, two,"),
        ("a b", "a"),
        ("aaaa bb", "aaaa"),
        ("a bbbbbb", "a"),
        ("a  b", "a"),
    ],
)
def test_where_a_reply_is_cut(reply: str, part: str) -> None:
    assert beginning(reply) == part


def test_what_cannot_be_cut() -> None:
    for reply in ("", "one", " one"):
        with pytest.raises(Broken):
            beginning(reply)


def test_too_many_names() -> None:
    with (
        served(settings={"HALOGEN_FORK_HANDLES": "5"}) as small,
        pytest.raises(CannotPlay, match=r"plan of this size keeps 6 names .* holds 5: .*HANDLES=6"),
    ):
        played(small.url, "plan")


def test_nobody_there() -> None:
    with pytest.raises(CannotPlay, match="start the server, or give another --base-url"):
        played("http://127.0.0.1:9", "plan")


def test_a_server_that_wants_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    with served(settings={"HALOGEN_API_KEY": "k1"}) as closed:
        assert main(["harness", "scenario", "plan", "--base-url", closed.url]) == 3
    said = capsys.readouterr()
    assert "the server wants a key (401): give it by --key" in said.err
    assert (said.err.count("\n"), said.out) == (1, "")


def test_its_tree(server: Served) -> None:
    knots = {knot.key: knot for knot in played(server.url, "tree").knots()}
    assert knots["root"].parent is None and knots["node 2.1"].parent == "node 2"
    assert knots["back to the root"].parent == "root"
    assert knots["root"].saved.startswith("saved 0 of ")
    assert "cold" not in " ".join(knots)


def test_the_command(server: Served, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "forks.svg"
    base = ["harness", "scenario", "all", "--base-url", server.url]
    assert main([*base, "--workers", "2", "--tree", "--tree-svg", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"^[\w-]+ on \w+: as expected \(", printed, re.MULTILINE)) == 12
    assert printed.count("└── plan  cold") == 3
    assert "node 1.2" in picture.read_text("utf-8").replace("&#160;", " ")


def test_the_command_when_it_is_not_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    with served(settings={"HALOGEN_FORK": "0"}) as off:
        code = main(["harness", "scenario", "best-of", "--route", "chat", "--base-url", off.url])
    printed = capsys.readouterr().out.splitlines()
    assert code == 1 and printed[0].startswith("best-of on chat: NOT as expected (")
    assert printed[1] == (
        "! best-of on chat, candidate 1: X-Halogen-From is absent, it should be used"
    )
    assert printed[-1] == "! no answer has X-Halogen-From: are sessions on (HALOGEN_FORK=1)?"


def test_the_command_when_nothing_can_be_played(capsys: pytest.CaptureFixture[str]) -> None:
    with served() as small:
        code = main(["harness", "scenario", "plan", "--workers", "9", "--base-url", small.url])
    said = capsys.readouterr()
    assert code == 2 and not said.out and said.err.count("\n") == 1
    assert "plan of this size keeps 11 names at once, and the server holds 8" in said.err
