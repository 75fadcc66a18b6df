"""No key is written down, wherever a server puts it; and foreign text cannot act."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.events import Check, ExchangeSeen, Note, RunStarted
from halogen_conformance.mask import Mask
from halogen_conformance.stream import to_line
from halogen_conformance.verdict import Outcome, Verdict
from halogen_conformance.visible import one_line, visible

KEY = 'sk-"quoted"\\é-0123'


def test_a_key_is_hidden_in_every_text_of_an_exchange() -> None:
    seen = ExchangeSeen(
        "t",
        1,
        "POST",
        f"/v1?k={KEY}",
        0.0,
        0.0,
        request_headers=(("X-Api-Key", KEY), ("x-other", f"a {KEY}")),
        request_body=json.dumps({"a": KEY}),
        response_headers=(("Set-Cookie", "session=1"), ("x-echo", KEY)),
        response_body=json.dumps({"a": KEY}, ensure_ascii=False) + KEY,
        frames=((0.1, f"data: {KEY}"),),
        error=KEY,
    )
    masked = Mask([KEY]).event(seen)
    line = to_line(masked)
    assert "0123" not in line
    assert "session=1" not in line
    assert line.count("[hidden]") == 10


def test_keys_that_begin_alike_leave_no_tail() -> None:
    assert Mask(["secret-1", "secret-1-longer"]).text("secret-1-longer") == "[hidden]"


def test_a_short_key_does_not_shred_the_report() -> None:
    assert Mask(["key"]).text("monkey keys") == "monkey keys"


def test_user_and_password_in_a_url_are_hidden() -> None:
    started = RunStarted("http://me:pass@host:1/x", 0.0)
    assert Mask([]).event(started) == RunStarted("http://[hidden]@host:1/x", 0.0)


def test_verdicts_and_names_of_ours_stay_as_they_are() -> None:
    check = Check("test_secret::x", "FROM-1", Outcome.MISSED, Verdict.FAIL, actual="test_secret")
    masked = Mask(["test_secret"]).event(check)
    assert isinstance(masked, Check)
    assert (masked.test, masked.actual) == ("test_secret::x", "[hidden]")
    assert masked.verdict is Verdict.FAIL


def test_a_note_without_secrets_is_untouched() -> None:
    assert Mask([]).event(Note("all well", "t")) == Note("all well", "t")


@given(st.text(st.characters(exclude_categories=())))
def test_visible_text_cannot_drive_a_terminal_or_stop_a_file(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert all(char in "\n\t" or char.isprintable() or char.isspace() for char in shown)
    assert not {"\x1b", "\r", "\u202e", "\u2028", "\u200b", "\x00"} & set(shown)


def test_what_cannot_be_seen_is_shown_as_an_escape() -> None:
    assert visible("\x1b[0m\r\x00") == "\\x1b[0m\\r\\x00"
    assert visible("a\u202eb\u200b\ud800\ue000\u2028") == "a\\u202eb\\u200b\\ud800\\ue000\\u2028"


@given(st.text(st.characters(categories=("L", "N", "P", "S"))))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_a_cut_says_how_much_is_missing() -> None:
    assert visible("x" * 5000, 10) == "xxxxxxxxxx… (4,990 more characters)"
    assert one_line("a\n\tb\r\x1b[0m") == "a b\\r\\x1b[0m"
