"""Transcripts: the format of the program it comes from, torn lines, errors, forks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_simulator.harness.record import (
    Compaction,
    Fork,
    Message,
    RecordError,
    Text,
    ToolResult,
    ToolUse,
    Usage,
    read_record,
)
from halogen_simulator.harness.transcript import Transcript, TranscriptError, new_id, parse
from tests.harness.made import MESSAGES, SOME, message, same, sessions

# As the other program writes it: keys in alphabetical order, no space anywhere.
META = (
    '{"created_at_ms":1700000000001,"fork":{"branch_name":"alt","parent_session_id":"session-7-0"},'
    '"session_id":"session-8-1","type":"session_meta","updated_at_ms":1700000000009,"version":1}'
)
COMPACTION = '{"count":2,"removed_message_count":4,"summary":"Fog was met.","type":"compaction"}'
ASKED = (
    '{"message":{"blocks":[{"text":"Is it foggy?","type":"text"}],"role":"user"},"type":"message"}'
)
CALLED = (
    '{"message":{"blocks":[{"text":"I look.","type":"text"},'
    '{"id":"t1","input":"{\\"at\\":\\"quay\\"}","name":"look","type":"tool_use"}],"role":"assistant","usage":{"cache_creation_input_tokens":1,'
    '"cache_read_input_tokens":2,"input_tokens":10,"output_tokens":4}},"type":"message"}'
)
TOLD = (
    '{"message":{"blocks":[{"is_error":false,"output":"grey","tool_name":"look","tool_use_id":"t1",'
    '"type":"tool_result"}],"role":"tool"},"type":"message"}'
)
WHOLE = "\n".join([META, COMPACTION, ASKED, CALLED, TOLD]) + "\n"


def read(text: str | bytes) -> Transcript:
    loaded = parse(text.encode() if isinstance(text, str) else text, "a.jsonl", "a")
    assert loaded.warnings == ()
    return loaded.transcript


def test_a_file_of_the_other_program() -> None:
    found = read(WHOLE)
    assert (found.session_id, found.created_at_ms) == ("session-8-1", 1700000000001)
    assert found.updated_at_ms == 1700000000009
    assert found.fork == Fork(parent_session_id="session-7-0", branch_name="alt")
    assert found.compaction == Compaction(count=2, removed_message_count=4, summary="Fog was met.")
    usage = Usage(
        input_tokens=10,
        output_tokens=4,
        cache_creation_input_tokens=1,
        cache_read_input_tokens=2,
    )
    call = ToolUse(id="t1", name="look", input='{"at":"quay"}')
    result = ToolResult(tool_use_id="t1", tool_name="look", output="grey", is_error=False)
    assert found.messages == [
        message("Is it foggy?"),
        Message(role="assistant", blocks=(Text(text="I look."), call), usage=usage),
        Message(role="tool", blocks=(result,)),
    ]


def test_what_is_printed_is_what_the_other_program_reads() -> None:
    """The same JSON values line by line, with every field it insists on."""
    printed = read(WHOLE).printed().decode().splitlines()
    assert [json.loads(line) for line in printed] == [
        json.loads(line) for line in WHOLE.splitlines()
    ]


@pytest.mark.parametrize(
    "text",
    [
        WHOLE.replace("\n", "\r\n"),
        WHOLE.rstrip("\n"),
        "\n\n" + WHOLE.replace("\n", "\n\n"),
        WHOLE.replace('"version":1}', '"version":1,"workspace":"x"}'),
    ],
)
def test_written_by_hand(text: str) -> None:
    assert same(read(text), read(WHOLE))


def test_arguments_written_as_an_object_by_hand() -> None:
    text = CALLED.replace('"{\\"at\\":\\"quay\\"}"', '{"at":"quay"}')
    call = read(f"{META}\n{text}").messages[0].blocks[1]
    assert isinstance(call, ToolUse) and json.loads(call.input) == {"at": "quay"}


def test_a_file_of_one_line_is_no_older_file() -> None:
    assert read(META).session_id == "session-8-1"
    assert not parse(META.encode(), "a.jsonl", "a").older_form


OLDER: dict[str, Any] = {"version": 1, "messages": [json.loads(ASKED)["message"]]}


def test_the_older_form() -> None:
    loaded = parse(json.dumps(OLDER, indent=2).encode(), "a.json", "a")
    assert loaded.older_form and loaded.transcript.session_id == "a"
    assert loaded.transcript.messages == [message("Is it foggy?")]


def test_the_older_form_with_all_it_may_have() -> None:
    meta = json.loads(META)
    compaction = {"count": 1, "removed_message_count": 3, "summary": "s"}
    value = OLDER | {key: meta[key] for key in meta if key != "type"} | {"compaction": compaction}
    found = read(json.dumps(value))
    assert (found.session_id, found.updated_at_ms) == ("session-8-1", 1700000000009)
    assert found.fork and found.fork.branch_name == "alt"
    assert found.compaction and found.compaction.removed_message_count == 3


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[]", "line 2: a record is an object"),
        ("{}", "type is one of session_meta, compaction, message"),
        ('{"type":"prompt"}', "line 2: a record is an object"),
        (META.replace('"version":1', '"version":2'), "line 2: version"),
        (META.replace("1700000000001", "-1"), "line 2: created_at_ms"),
        (META.replace("1700000000001", "true"), "line 2: created_at_ms"),
        (ASKED.replace('"user"', '"robot"'), "line 2: message.role"),
        (ASKED.replace('"text":"Is it foggy?",', ""), "line 2: message.blocks.0.text.text"),
        (TOLD.replace('"is_error":false,', ""), "blocks.0.tool_result.is_error: Field required"),
        (CALLED.replace('"output_tokens":4', '"output_tokens":"4"'), "usage.output_tokens"),
        (COMPACTION.replace('"count":2,', ""), "line 2: count: Field required"),
    ],
)
def test_errors_name_the_line(line: str, complaint: str) -> None:
    with pytest.raises(TranscriptError) as caught:
        parse(f"{META}\n{line}\n{ASKED}\n".encode(), "a.jsonl", "a")
    assert str(caught.value).startswith("a.jsonl, line 2: ") and complaint in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{", b"\xff\xfe", b"\x00" * 99])
def test_nothing_to_read(data: bytes) -> None:
    with pytest.raises(TranscriptError, match=r"a\.jsonl: there is no record in it"):
        parse(data, "a.jsonl", "a")


def test_an_older_file_that_is_wrong() -> None:
    with pytest.raises(TranscriptError, match=r"a\.json: messages: Field required"):
        parse(b'{"version": 1}', "a.json", "a")


@pytest.mark.parametrize(
    "torn", [ASKED[:40].encode(), b"\x00\x00\x00", b'{"type":"mess\xe2\x82', b"[" * 100_000]
)
def test_a_torn_line_costs_nothing_but_itself(torn: bytes) -> None:
    data = b"\n".join([META.encode(), ASKED.encode(), torn, TOLD.encode(), b""])
    loaded = parse(data, "a.jsonl", "a")
    assert loaded.warnings == ("a.jsonl, line 3: not a whole record; it is skipped",)
    assert [one.role for one in loaded.transcript.messages] == ["user", "tool"]


def test_a_torn_first_line() -> None:
    loaded = parse(f"{META[:50]}\n{ASKED}\n".encode(), "a.jsonl", "a")
    assert loaded.transcript.session_id == "a" and len(loaded.warnings) == 2
    assert "no session_meta line; the session is called a" in loaded.warnings[1]


@SOME
@given(sessions())
def test_any_session_is_read_as_it_was_printed(transcript: Transcript) -> None:
    printed = transcript.printed()
    assert same(read(printed), transcript)
    assert printed.count(b"\n") == len(transcript.messages) + 1 + (
        transcript.compaction is not None
    )


@SOME
@given(sessions(least=1), st.data())
def test_cut_anywhere_all_whole_lines_are_there(
    transcript: Transcript, data: st.DataObject
) -> None:
    printed = transcript.printed()
    first = printed.index(b"\n")
    cut = data.draw(st.integers(first, len(printed)))
    loaded = parse(printed[:cut], "a.jsonl", "a")
    # A line that lacks only its end is whole.
    whole = sum(line != b"" for line in printed[: cut + 1].split(b"\n")[:-1])
    head = 2 if transcript.compaction else 1
    assert loaded.transcript.messages == transcript.messages[: max(0, whole - head)]


@SOME
@given(sessions(), MESSAGES)
def test_a_fork_shares_nothing(parent: Transcript, later: Message) -> None:
    before = parent.printed()
    fork = parent.forked("alt")
    assert fork.fork == Fork(parent_session_id=parent.session_id, branch_name="alt")
    assert fork.session_id != parent.session_id
    assert (fork.messages, fork.compaction) == (parent.messages, parent.compaction)
    assert fork.messages is not parent.messages
    assert not {id(one) for one in fork.messages} & {id(one) for one in parent.messages}
    fork.add(later)
    fork.compact("s", 0)
    assert parent.printed() == before


@pytest.mark.parametrize(
    ("given_name", "name"), [("  alt ", "alt"), (" \t", None), ("", None), (None, None)]
)
def test_branch_names(given_name: str | None, name: str | None) -> None:
    fork = Transcript.new().forked(given_name)
    assert fork.fork and fork.fork.branch_name == name
    assert read(fork.printed()).fork == fork.fork


def test_records_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        message("a").role = "tool"


def test_compactions_are_counted() -> None:
    transcript = Transcript.new()
    for text in ("a", "b", "c"):
        transcript.add(message(text))
    transcript.compact("one", 2)
    assert [one.text for one in transcript.messages] == ["Summary of what was said: one", "c"]
    transcript.compact("two", 2)
    assert transcript.compaction == Compaction(count=2, removed_message_count=2, summary="two")


def test_ids_of_one_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halogen_simulator.harness.transcript.now_ms", lambda: 5)
    assert len({new_id() for _ in range(10_000)}) == 10_000


def test_records_of_no_type() -> None:
    values: list[Any] = [None, 1, "x", [], {}, {"type": []}]
    for value in values:
        with pytest.raises(RecordError):
            read_record(value)
