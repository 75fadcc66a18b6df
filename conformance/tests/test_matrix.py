"""The kill matrix: what counts as killed, what is red, and the command from end to end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance.matrix.fault import Fault, NoSimulator, faults_of
from halogen_conformance.matrix.judge import Fate, Judged, Verdicts, judge
from halogen_conformance.matrix.page import render
from halogen_conformance.matrix.trial import Trial, read, save, saved
from halogen_conformance.requirements import parse

FAKE = str(Path(__file__).with_name("fake_simulator.py"))
FAULTS = ("empty-list", "never-unknown", "no-fault-at-all")
LEVELS = {"AA-1": "MUST", "AA-2": "MUST", "AA-3": "SHOULD", "AA-4": "OURS"}
TABLE = parse(
    '[groups]\nAA = "Group"\n'
    + "".join(
        f'[[requirement]]\nid = "{name}"\nlevel = "{level}"\nsentence = "S."\nwhy = "W."\n'
        f'needs = ["on"]\ntests = ["test_a.py::test_b"]\n'
        for name, level in LEVELS.items()
    )
)
CLEAN = Trial("", 0, 1.0)


def fault(*breaks: str, name: str = "wrong") -> Fault:
    return Fault(name, breaks, "Does it wrong.")


def results(code: int = 1, **outcomes: str) -> dict[str, Any]:
    """A results.json in which these rows (AA_1="missed blocked") have checks with outcomes."""
    rows = [
        {
            "id": name.replace("_", "-"),
            "checks": [
                {"test": "test_a.py::test_b", "outcome": outcome, "actual": "it"}
                for outcome in words.split()
            ],
        }
        for name, words in outcomes.items()
    ]
    return {
        "exit_code": code,
        "requirements": rows,
        "suite_errors": [{"where": "pytest", "text": "first\nlast"}] if code == 4 else [],
        "target_lost": "it died" if code == 3 else None,
    }


@pytest.mark.parametrize(
    ("broken", "found", "fate", "unnamed"),
    [
        (fault("AA-1"), results(AA_1="held missed"), Fate.KILLED, ()),
        # A row that is named may be kept from its question by another; what it builds on may too.
        (fault("AA-1", "AA-2"), results(AA_1="blocked", AA_2="missed"), Fate.KILLED, ()),
        (fault("AA-1", "AA-2"), results(AA_2="missed"), Fate.SURVIVED, ()),
        (fault("AA-1"), results(0, AA_1="held"), Fate.SURVIVED, ()),
        (fault("AA-1"), results(AA_2="missed"), Fate.SURVIVED, ("AA-2",)),
        (fault("AA-1", "AA-2"), results(AA_1="missed", AA_2="missed"), Fate.KILLED, ()),
        (fault("AA-1"), results(AA_1="missed", AA_2="missed blocked"), Fate.KILLED, ("AA-2",)),
        # What is blocked has not fallen, and OURS rows accuse nobody; a warning does.
        (fault("AA-1"), results(AA_1="missed", AA_2="blocked", AA_4="missed"), Fate.KILLED, ()),
        (fault("AA-1"), results(AA_1="missed", AA_3="missed"), Fate.KILLED, ("AA-3",)),
        (fault("AA-1"), results(3), Fate.KILLED, ()),
        (fault("AA-1"), results(4, AA_1="missed"), Fate.BROKE_US, ()),
        (fault("AA-4"), results(5, AA_4="missed"), Fate.KILLED, ()),
        (fault("AA-4"), results(5), Fate.BROKE_US, ()),
        (fault("AA-1", name="cosmetic"), results(AA_2="missed"), Fate.KILLED, ()),
        (fault("AA-1", name="cosmetic"), results(0), Fate.SURVIVED, ()),
    ],
)
def test_the_fate_of_a_fault(
    broken: Fault, found: dict[str, Any], fate: Fate, unnamed: tuple[str, ...]
) -> None:
    judged = judge(broken, read(broken.id, found), TABLE)
    assert (judged.fate, judged.unnamed) == (fate, unnamed)
    assert judged.is_red is (fate is not Fate.KILLED or bool(unnamed))


def test_a_trial_without_an_end_is_no_verdict() -> None:
    judged = judge(fault("AA-1"), Trial("wrong", None, 400, trouble="no end"), TABLE)
    assert judged.fate is Fate.BROKE_US


def judged_all(*pairs: tuple[Fault, dict[str, Any]]) -> list[Judged]:
    return [judge(one, read(one.id, found), TABLE) for one, found in pairs]


def test_a_must_without_a_killer_is_red_and_a_floor_is_no_killer() -> None:
    first = (fault("AA-1", name="one"), results(AA_1="missed"))
    floor = (fault("AA-2", name="cosmetic"), results(AA_2="missed"))
    only_blocked = (fault("AA-2", "AA-1", name="two"), results(AA_1="missed", AA_2="blocked"))
    verdicts = Verdicts(TABLE, CLEAN, judged_all(first, floor, only_blocked))
    assert verdicts.red() == ["AA-2 has no killer"]
    assert verdicts.score == (1, 2)
    second = (fault("AA-2", name="two"), results(AA_2="missed"))
    assert Verdicts(TABLE, CLEAN, judged_all(first, second)).red() == []
    # Of a part of the matrix nothing can be said about rows that were not tried.
    assert Verdicts(TABLE, CLEAN, judged_all(first), whole=False).red() == []


def test_what_is_red_says_which_test_is_wrong() -> None:
    wrong = (fault("AA-1"), results(AA_1="held", AA_2="missed"))
    broke = (fault("AA-1", name="other"), results(4))
    verdicts = Verdicts(TABLE, CLEAN, judged_all(wrong, broke), whole=False)
    assert verdicts.red() == [
        "wrong survived: AA-1 holds with it",
        "wrong: AA-2 falls, which it does not name (test_a.py::test_b)",
        "other: no verdict, pytest: last",
    ]


def test_a_simulator_that_falls_without_a_fault_is_red() -> None:
    for clean in (read("", results(AA_1="blocked")), read("", results(0, AA_3="missed"))):
        [line] = Verdicts(TABLE, clean, [], whole=False).red()
        assert line.startswith("without a fault")
    assert Verdicts(TABLE, read("", results(0, AA_4="missed")), [], whole=False).red() == []


def test_the_page_shows_fates_killers_and_no_times() -> None:
    bar = Fault("one", ("AA-1", "AA-2"), "Says a|b.")
    judged = judged_all(
        (bar, results(AA_1="missed", AA_2="missed", AA_3="missed")),
        (fault("AA-3", name="two"), results(AA_1="blocked")),
        (fault("AA-2", "AA-1", name="three"), results(AA_1="missed", AA_2="blocked")),
        (fault("AA-1", name="cosmetic"), results(AA_1="missed", AA_2="missed")),
    )
    page = render(Verdicts(TABLE, CLEAN, judged))
    assert "| one | Says a\\|b. | AA-1 | killed | AA-2, **AA-3** |  |" in page
    assert "| two | Does it wrong. | AA-3 | **survived** |  | 1 |" in page
    assert "| cosmetic | Does it wrong. | everything | killed | 2 requirements |  |" in page
    assert "| three | Does it wrong. | AA-2 (blocked) | killed | AA-1 | 1 |" in page
    assert "| AA-1 | MUST | one | three |" in page
    assert "| AA-2 | MUST | **none** | one |" in page
    assert "1 of 2 MUST requirements have a killer; 3 of 4 faults are killed." in page
    assert "AA-2 has no killer" in page


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("raise SystemExit('no luck')", "no luck"),
        ("print('x')", "did not list faults"),
        ('print(\'[{"id": "a"}]\')', "did not list faults"),
        ('print(\'[{"id": "a", "breaks": [], "sentence": ""}]\')', "breaks nothing"),
        ('print(\'[{"id": "a", "breaks": ["ZZ-9"], "sentence": ""}]\')', "nobody knows"),
    ],
)
def test_a_simulator_that_cannot_be_used_says_why(script: str, said: str) -> None:
    with pytest.raises(NoSimulator, match=said):
        faults_of([sys.executable, "-c", script], frozenset({"AA-1"}))


def test_there_is_no_simulator() -> None:
    with pytest.raises(NoSimulator, match="cannot run"):
        faults_of(["no-such-command-here"], frozenset())


def test_the_command_tells_killed_from_survived_and_keeps_its_trials(
    cli: Any, tmp_path: Path
) -> None:
    words, simulator = ["matrix", "--quick", "--trials", "kept"], ["--", sys.executable, FAKE]
    done = cli(*words, *simulator)
    assert done.returncode == 1, done.stdout + done.stderr
    fates = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    assert ("killed", "empty-list") in fates
    assert ("survived", "no-fault-at-all") in fates
    assert "no-fault-at-all survived: LIST-1 holds with it" in done.stdout
    assert "2 of 3 faults are killed." in done.stdout

    folder = tmp_path / "kept"
    found = saved(folder)
    assert set(found) == {"", *FAULTS}
    for trial in found.values():
        save(trial, tmp_path / "again")
    assert saved(tmp_path / "again") == found

    # One is tried again, the others are taken from there.
    (folder / "empty-list.json").unlink()
    done = cli(*words, "--missing", "--page", "page.md", *simulator)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no fault:" not in done.stdout
    page = (tmp_path / "page.md").read_text("utf-8")
    assert all(f"| {name} | " in page for name in FAULTS)
    (folder / "never-unknown.json").unlink()
    done = cli(*words, "--fault", "empty-list", "--page", "other.md", *simulator)
    assert (done.returncode, (tmp_path / "other.md").exists()) == (2, False)
    assert "only written when all faults are tried" in done.stderr


def test_usage_errors_of_the_command(cli: Any) -> None:
    simulator = ["--", sys.executable, FAKE]
    done = cli("matrix", "--fault", "nope", *simulator)
    assert (done.returncode, "there is no fault nope" in done.stderr) == (2, True)
    done = cli("matrix", "--", "no-such-command-here")
    assert (done.returncode, "no command 'no-such-command-here'" in done.stderr) == (2, True)
