"""The requirements table, its rules, and the page made from it."""

from pathlib import Path

import pytest

from halogen_conformance.requirements import (
    BadTable,
    load,
    main,
    mismatches,
    parse,
    problems_of,
    render_page,
    untested,
)
from halogen_conformance.verdict import Level

PAGE = Path(__file__).resolve().parents[1] / "REQUIREMENTS.md"


def row(row_id: str = "AA-1", more: str = "") -> str:
    return (
        f'[[requirement]]\nid = "{row_id}"\nlevel = "MUST"\nsentence = "S."\nwhy = "W."\n'
        f'needs = ["on"]\n{more}\n'
    )


HEAD = '[groups]\nAA = "Group"\n'


def test_the_table_of_the_suite_is_sound() -> None:
    assert problems_of(load()) == []
    assert len(set(load().ids)) == len(load().rows)


def test_the_page_is_in_step_with_the_table() -> None:
    assert PAGE.read_text("utf-8") == render_page(load()), (
        "run: python -m halogen_conformance.requirements"
    )


def test_rows_know_their_group_routes_and_level() -> None:
    first = load().row("from-1")
    assert (first.id, first.group, first.level) == ("FROM-1", "FROM", Level.MUST)
    assert first.is_x3
    assert load().row("BRANCH-2").routes == ("messages",)
    assert first in load().of_group("FROM")
    with pytest.raises(KeyError, match="FROM-99"):
        load().row("FROM-99")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("= nonsense", "requirements table"),
        ("[other]", "unknown top-level"),
        (row(more="color = 1"), "unknown fields"),
        (row().replace('why = "W."\n', ""), "missing fields"),
        (row().replace("MUST", "MAY"), "unknown level"),
        (row(more='routes = "x4"'), "unknown routes"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(source: str, said: str) -> None:
    with pytest.raises(BadTable, match=said):
        parse(source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (HEAD + row() + row(), "AA-1 is there twice"),
        (HEAD + row("aa-1"), "is not an id"),
        (HEAD + row("AA-2") + row("AA-1"), "out of order"),
        (HEAD + row("BB-1"), "has no title"),
        (HEAD + row().replace('"on"', '"moon"'), "unknown settings group 'moon'"),
        (HEAD + row().replace('["on"]', "[]"), "needs no settings group"),
        (HEAD + row(more='tests = ["x"]'), "is not file.py::test"),
        (HEAD + row(more='tests = ["test_a.py::test_b", "test_a.py::test_b"]'), "there twice"),
        (HEAD + row(more='tests = ["test_a.py::test_b"]\nexcluded = "r"'), "only be one"),
        (HEAD + row().replace("S.", "S"), "full stop"),
    ],
)
def test_each_fault_of_a_table_is_named(source: str, said: str) -> None:
    assert any(said in line for line in problems_of(parse(source)))


def test_rows_without_tests_or_reason_are_found() -> None:
    tests = 'tests = ["test_a.py::test_b"]'
    table = parse(HEAD + row("AA-1") + row("AA-2", tests) + row("AA-3", 'excluded = "r"'))
    assert untested(table) == ["AA-1"]


def test_table_and_marks_are_compared_both_ways() -> None:
    table = parse(HEAD + row("AA-1", 'tests = ["test_a.py::test_b"]') + row("AA-2"))
    assert mismatches(table, {"test_a.py::test_b": ["AA-1"]}) == []
    assert mismatches(table, {}) == ["AA-1: lists test_a.py::test_b, which does not exist"]
    assert mismatches(table, {"test_a.py::test_b": ["AA-2", "CC-1"], "test_a.py::test_c": []}) == [
        "AA-1: lists test_a.py::test_b, which does not name it",
        "AA-2: does not list test_a.py::test_b",
        "test_a.py::test_b names the unknown id CC-1",
        "test_a.py::test_c names no requirement",
    ]


def test_the_page_shows_reasons_and_escapes_bars() -> None:
    page = render_page(parse(HEAD + row(more='excluded = "a|b"')))
    assert "*Not tested: a\\|b*" in page
    assert "1 requirements: 1 MUST, 0 SHOULD, 0 OURS." in page


def test_writing_the_page_changes_nothing_when_it_is_in_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = PAGE.read_text("utf-8")
    assert main() == 0
    assert PAGE.read_text("utf-8") == before
    assert "REQUIREMENTS.md" in capsys.readouterr().out
