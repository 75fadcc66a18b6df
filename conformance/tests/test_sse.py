"""The event-stream parser: bytes cut anywhere, every odd line accounted for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.drivers import sse
from halogen_conformance.drivers.sse import SseError, SseEvent, SseParser


def parse(*chunks: bytes) -> list[SseEvent]:
    parser = SseParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends_are_read_alike(end: bytes) -> None:
    wire = end.join([b"event: a", b"data: 1", b"", b"data: 2", b"data: 3", b"", b""])
    assert parse(wire) == [SseEvent("1", "a"), SseEvent("2\n3")]
    assert parse(*[wire[i : i + 1] for i in range(len(wire))]) == parse(wire)


def test_one_space_after_the_colon_is_dropped_and_no_more() -> None:
    assert parse(b"data:x\n\ndata:  y\n\ndata\n\n") == [
        SseEvent("x"),
        SseEvent(" y"),
        SseEvent(""),
    ]


def test_comments_ids_retries_and_foreign_lines_are_all_reported() -> None:
    wire = b': alive\n\nid: 7\nretry: 10\n\n{"error": 1}\n\n'
    assert parse(wire) == [
        SseEvent(comment="alive"),
        SseEvent(id="7", retry="10"),
        SseEvent(odd_lines=('{"error": 1}',)),
    ]


def test_a_byte_order_mark_is_dropped_at_the_beginning_only() -> None:
    wire = "\ufeffdata: a\n\ndata: \ufeffb\n\n".encode()
    assert parse(wire) == [SseEvent("a"), SseEvent("\ufeffb")]


def test_an_event_without_its_empty_line_is_torn_and_not_delivered() -> None:
    parser = SseParser()
    assert parser.feed(b"data: whole\n\nevent: x\ndata: ha") == [SseEvent("whole")]
    assert parser.close() == []
    assert parser.torn == "event: x\ndata: ha"


def test_broken_utf8_is_flagged_and_reading_goes_on() -> None:
    parser = SseParser()
    events = parser.feed(b"data: a\xff\n\n") + parser.feed(b"data: b\n\n") + parser.close()
    assert [event.data for event in events] == ["a\ufffd", "b"]
    assert parser.bad_utf8


def test_half_a_character_is_kept_until_it_is_known_to_be_broken() -> None:
    parser = SseParser()
    events = parser.feed(b"data: \xe2\x82") + parser.feed(b"x\n\n")
    assert [event.data for event in events] == ["\ufffdx"]


def test_a_character_cut_off_by_the_end_is_flagged() -> None:
    parser = SseParser()
    parser.feed("data: é".encode()[:-1])
    parser.close()
    assert parser.bad_utf8


@pytest.mark.parametrize("piece", [b"x" * 1000, b"data: y\n" * 100])
def test_an_endless_line_or_event_is_given_up_on(
    monkeypatch: pytest.MonkeyPatch, piece: bytes
) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_CHARS", 5000)
    parser = SseParser()

    def feed_for_ever() -> None:
        for _ in range(100):
            parser.feed(piece)

    with pytest.raises(SseError, match="never ended"):
        feed_for_ever()


_text = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=20)
_fields = st.tuples(st.lists(_text, min_size=1, max_size=3), st.none() | _text.filter(bool))


@given(
    st.lists(_fields, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(1, 9)),
)
def test_events_survive_any_cut(
    events: list[tuple[list[str], str | None]], end: str, cuts: list[int]
) -> None:
    wire = "".join(
        (f"event: {name}{end}" if name else "")
        + "".join(f"data: {line}{end}" for line in data)
        + end
        for data, name in events
    ).encode()
    chunks, rest = [], wire
    for cut in cuts:
        chunks.append(rest[:cut])
        rest = rest[cut:]
    assert parse(*chunks, rest) == [SseEvent("\n".join(data), name) for data, name in events]


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_any_bytes_in_any_pieces_give_the_same_events(chunks: list[bytes]) -> None:
    assert parse(*chunks) == parse(b"".join(chunks))
