"""The event stream as NDJSON: whole, cut off, from a newer version, and broken."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.events import Check, Event, ExchangeSeen, Note, RunFinished, RunStarted
from halogen_conformance.stream import EventFormatError, from_json, read_lines, to_json, to_line
from halogen_conformance.verdict import Level, Outcome, Verdict

# Anything a str can hold, halves of surrogate pairs included: headers may bring any byte.
TEXT = st.text(st.characters(exclude_categories=()))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-10, 10)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(),
    "float": NUMBERS,
    "bool": st.booleans(),
    "int | None": st.none() | st.integers(),
    "float | None": st.none() | NUMBERS,
    "bool | None": st.none() | st.booleans(),
    "tuple[str, ...]": st.lists(TEXT, max_size=3).map(tuple),
    "Pairs": st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple),
    "Frames": st.lists(st.tuples(NUMBERS, TEXT), max_size=3).map(tuple),
    "Mapping[str, int]": st.dictionaries(TEXT, st.integers(), max_size=3),
    "Level": st.sampled_from(Level),
    "Outcome": st.sampled_from(Outcome),
    "Verdict": st.sampled_from(Verdict),
}


def of_type(cls: type[Event]) -> st.SearchStrategy[Event]:
    values = {name: KINDS[str(spec.type)] for name, spec in cls.__dataclass_fields__.items()}
    return st.builds(cls, **values)


EVENTS = st.one_of([of_type(cls) for cls in get_args(Event)])


@given(st.lists(EVENTS, max_size=4))
def test_a_stream_reads_back_as_it_was_written(events: list[Event]) -> None:
    lines = [to_line(event) for event in events]
    assert all(line.isascii() and "\n" not in line for line in lines)
    assert list(read_lines(lines)) == events


def test_unknown_events_and_keys_of_a_newer_version_are_left_out() -> None:
    note = to_json(Note("seen")) | {"colour": "blue"}
    lines = [json.dumps({"event": "tomorrow"}), "", json.dumps(note)]
    assert list(read_lines(lines)) == [Note("seen")]


def test_a_last_line_that_was_cut_off_is_left_out() -> None:
    lines = [to_line(RunStarted("http://x", 1.0)), to_line(RunFinished(0, 2.0))[:-5]]
    assert list(read_lines(lines)) == [RunStarted("http://x", 1.0)]


def test_a_cut_in_the_middle_is_an_error_with_its_line() -> None:
    with pytest.raises(EventFormatError, match="line 1: not JSON"):
        list(read_lines(['{"event"', to_line(Note("seen"))]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "not an object"),
        ({"event": 3}, "not an object with an `event` name"),
        ({"event": "note"}, "note has no `text`"),
        ({"event": "note", "text": 3}, "note.text is not a str"),
        ({"event": "run_started", "target": "x", "at": True}, "run_started.at is not a float"),
        ({"event": "run_started", "target": "x", "at": 1, "facts": [["a"]]}, "not a Pairs"),
        (
            {"event": "check", "test": "t", "requirement": "A", "outcome": "held", "verdict": "OK"},
            "check.verdict: 'OK' is not a valid Verdict",
        ),
    ],
)
def test_what_is_no_event_is_refused_in_words(data: Any, message: str) -> None:
    with pytest.raises(EventFormatError) as caught:
        from_json(data)
    assert message in str(caught.value)


def test_deep_nesting_does_not_bring_the_reader_down() -> None:
    with pytest.raises(EventFormatError, match="line 1"):
        list(read_lines(["[" * 100_000, to_line(Note("seen"))]))


def test_defaults_take_no_room_in_the_file() -> None:
    check = Check("t", "A-1", Outcome.HELD, Verdict.PASS)
    assert set(to_json(check)) == {"event", "test", "requirement", "outcome", "verdict"}
    seen = ExchangeSeen("t", 1, "GET", "/", 0.0, 0.0, status=200)
    assert to_json(seen)["status"] == 200
