"""The matrix names tests that exist, and leaves out what it says."""

import re
from pathlib import Path

import pytest

from tests import matrix

HERE = Path(__file__).parent
NAMED = {
    "protocol": (*matrix.CHAT_ONLY, *matrix.SIMULATOR_ONLY, *matrix.OTHER_ROUTES),
    "claude_code": tuple(name.partition("[")[0] for name in matrix.RECORDINGS),
    "restart": matrix.RESTARTS,
    "reports": matrix.REPORTS,
}


def names_of(folder: str) -> set[str]:
    found = set()
    for path in (HERE / folder).glob("test_*.py"):
        found |= set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.M))
    return found


@pytest.mark.parametrize("folder", NAMED)
def test_every_name_is_a_tests(folder: str) -> None:
    """A test that was renamed would leave the matrix unseen."""
    there = names_of(folder)
    for name in NAMED[folder]:
        assert any(test == name or (name[-1] == "_" and test.startswith(name)) for test in there)


def test_every_report_has_a_test_named_after_it() -> None:
    """Twenty of them; one or two are tested where their feature is."""
    names = names_of("reports") | names_of("protocol")
    for number in range(1, 21):
        assert any(f"p{number:02d}_" in name for name in names), f"P{number:02d}"


def test_what_runs_where() -> None:
    real = {"engine": "reference", "route": "messages", "stream": "stream"}
    core, other = matrix.OTHER_ROUTES[0], "test_from_6_and_7_over_a_long_history"
    assert matrix.runs("protocol", f"{core}[x]", real)
    assert not matrix.runs("protocol", f"{core}[x]", {**real, "stream": "whole"})
    assert not matrix.runs("protocol", other, real)
    assert matrix.runs("protocol", other, {**real, "route": "chat"})
    assert matrix.runs("protocol", other, {**real, "engine": "simulator"})
    assert not matrix.runs("protocol", matrix.CHAT_ONLY[0], {**real, "engine": "simulator"})
    for engine, kills in matrix.KILLS.items():
        parameters = {"engine": engine, "kills": kills}
        assert matrix.runs("restart", matrix.RESTARTS[-1], parameters)
        assert not matrix.runs("restart", matrix.RESTARTS[-1], {**parameters, "kills": kills + 1})
    assert matrix.runs("engine", "test_anything", {})
