"""The file form: what is written is read, and what cannot be read is named."""

from pathlib import Path

import pytest

from halogen_simulator.traffic.generator import Plan, traffic
from halogen_simulator.traffic.recording import (
    RecordingError,
    Thread,
    call_mark,
    load,
    marked,
    packaged,
    parse,
    text_mark,
    without_mark,
)


def test_what_is_written_is_read() -> None:
    made = [planned.record for planned in traffic(Plan())]
    assert parse([record.line() for record in made], "made") == made


def test_requests_are_in_the_order_of_their_numbers() -> None:
    """They are written once they are answered: a long one after a short one that came later."""
    made = [planned.record for planned in traffic(Plan(turns=2))]
    assert parse([record.line() for record in reversed(made)], "made") == made


def test_what_comes_with_the_simulator() -> None:
    assert packaged() == ["codex", "with-hints", "without-hints"]
    for name in packaged():
        assert load(name)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("no JSON", "is no recorded request: Expecting value"),
        ("[]", "is no recorded request"),
        ('{"n": 1, "headers": {}, "path": "/"}', "'method' is missing"),
        ('{"n": 1, "headers": {}, "path": 5, "method": "GET"}', "must be texts"),
        ('{"n": "1", "headers": {}, "path": "/", "method": "GET"}', "a whole number of its own"),
        ('{"n": 7, "headers": {}, "path": "/", "method": "GET"}', "of its own, not 7"),
        ('{"n": 1, "headers": [], "path": "/", "method": "GET"}', "is no recorded request"),
    ],
)
def test_a_line_that_cannot_be_read(line: str, complaint: str) -> None:
    good = '{"n": 7, "headers": {}, "path": "/", "method": "GET"}'
    with pytest.raises(RecordingError) as caught:
        parse([good, "", line], "some.jsonl")
    assert str(caught.value).startswith("some.jsonl, line 3")
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in (str(tmp_path / "nowhere.jsonl"), "nobody"):
        with pytest.raises(RecordingError, match=r"there are also: codex, with-hints"):
            load(name)


def test_marks() -> None:
    assert marked({"type": "text", "text": text_mark(12, "words")}) == 12
    assert marked({"type": "tool_use", "id": call_mark(12, 3)}) == 12
    for nobody in ({"type": "text", "text": "reply to that"}, {"id": "toolu_01A"}, "reply-1:"):
        assert marked(nobody) is None
    assert without_mark(text_mark(12, "reply-3: words")) == "reply-3: words"
    assert without_mark("words") == "words"


@pytest.mark.parametrize(
    "user_id",
    [
        f"user_{'d' * 64}_account__session_00000000-0000-4000-8000-000000000001",
        '{"device_id":"d","session_id":"00000000-0000-4000-8000-000000000001"}',
    ],
)
def test_a_session_that_stands_in_the_metadata_alone(user_id: str) -> None:
    line = (
        '{"n": 1, "method": "POST", "path": "/v1/messages", "headers": {"X-Api-Key": "k"}, '
        f'"body": {{"metadata": {{"user_id": {_json(user_id)}}}}}}}'
    )
    (record,) = parse([line], "made")
    assert record.thread == Thread("k", "00000000-0000-4000-8000-000000000001", None)


def _json(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
