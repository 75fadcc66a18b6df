"""The suite's tests and the requirements table say the same about each other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import halogen_conformance
from halogen_conformance.order import Order
from halogen_conformance.requirements import load, mismatches, untested

PACKAGE = Path(halogen_conformance.__file__).parent
# Collects the suite as `check` does and writes what each test is marked with.
COLLECT = """
import json, sys
import pytest

class Marks:
    def pytest_collection_finish(self, session):
        found = {}
        for item in session.items:
            test = f"{item.path.name}::{item.originalname}"
            entry = found.setdefault(test, {"ids": [], "needs": []})
            for kind, words in (("ids", "requirement"), ("needs", "needs")):
                for mark in item.iter_markers(words):
                    entry[kind] += [word for word in mark.args if word not in entry[kind]]
        open(sys.argv[2], "w").write(json.dumps(found))

code = pytest.main([sys.argv[1], "--rootdir", sys.argv[1], "-c", sys.argv[1] + "/suite.ini",
    "-q", "--collect-only", "-p", "halogen_conformance.plugin", "-p", "no:cacheprovider",
    "-p", "no:randomly", sys.argv[3]], plugins=[Marks()])
sys.exit(code)
"""
Marks = Mapping[str, Mapping[str, list[str]]]


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Marks:
    """Each test of the suite to its ids and settings groups."""
    out = tmp_path_factory.mktemp("marks") / "marks.json"
    order = f"--halogen-order={Order(url='http://127.0.0.1:9').to_option()}"
    words = [sys.executable, "-c", COLLECT, str(PACKAGE / "suite"), str(out), order]
    environment = {"PYTHONPATH": str(PACKAGE.parent), "PATH": "", "HOME": str(out.parent)}
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert out.exists(), done.stdout + done.stderr
    found: Marks = json.loads(out.read_text("utf-8"))
    return found


def test_every_requirement_has_a_test_or_a_reason(marks: Marks) -> None:
    assert untested(load()) == []


def test_the_table_lists_what_the_tests_are_marked_with(marks: Marks) -> None:
    assert mismatches(load(), {test: entry["ids"] for test, entry in marks.items()}) == []


def test_every_group_a_test_needs_stands_in_its_row(marks: Marks) -> None:
    rows = {row.id: row for row in load().rows}
    missing = [
        f"{row}: does not list the settings group {group} of {test}"
        for test, entry in marks.items()
        for row in entry["ids"]
        for group in entry["needs"]
        if row in rows and group not in rows[row].needs
    ]
    assert missing == []
