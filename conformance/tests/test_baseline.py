"""The baseline file: what is read, and in which words the rest is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from halogen_conformance.baseline import BaselineError, load, parse
from halogen_conformance.events import KnownListed
from halogen_conformance.verdict import Level

LEVELS = {"FROM-2": Level.MUST, "FROM-10": Level.SHOULD, "LIST-2": Level.OURS}


def test_entries_are_read() -> None:
    text = '[[known]]\nid = "FROM-2"\nreason = " slow disk "\n[[known]]\nid="FROM-10"\nreason="x"'
    assert parse(text, LEVELS) == (KnownListed("FROM-2", "slow disk"), KnownListed("FROM-10", "x"))


def test_an_empty_file_knows_nothing() -> None:
    assert parse("", LEVELS) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[known", "not TOML"),
        ('[known]\nid = "FROM-2"', r"write \[\[known\]\], not \[known\]"),
        ("known = [3]", "entry 1 is not a table"),
        ('[[know]]\nid = "FROM-2"', "unknown keys: know"),
        ('[[known]]\nid = "FROM-99"\nreason = "x"', "no requirement 'FROM-99'"),
        ('[[known]]\nreason = "x"', "no requirement None"),
        ('[[known]]\nid = "FROM-2"', r"entry 1 \(FROM-2\) needs a reason"),
        ('[[known]]\nid = "FROM-2"\nreason = " "', "needs a reason"),
        ('[[known]]\nid = "FROM-2"\nreason = "x"\nuntil = 3', "unknown keys: until"),
        ('[[known]]\nid = "LIST-2"\nreason = "x"', "LIST-2 is only reported and cannot fail"),
        ('[[known]]\nid="FROM-2"\nreason="x"\n[[known]]\nid="FROM-2"\nreason="y"', "listed twice"),
    ],
)
def test_a_mistake_is_named(text: str, message: str) -> None:
    with pytest.raises(BaselineError, match=message):
        parse(text, LEVELS)


def test_the_file_is_named_in_every_complaint(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"missing\.toml: cannot be read"):
        load(tmp_path / "missing.toml", LEVELS)
    broken = tmp_path / "broken.toml"
    broken.write_text("[[known", encoding="utf-8")
    with pytest.raises(BaselineError, match=r"broken\.toml: not TOML"):
        load(broken, LEVELS)
    broken.write_bytes(b"\xff")
    with pytest.raises(BaselineError, match=r"broken\.toml: cannot be read"):
        load(broken, LEVELS)
