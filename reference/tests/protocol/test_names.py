"""NAME: which names there are, and that no header value can break anything."""

import json
from collections.abc import Callable

import pytest

from tests.protocol.client import Kept, Talk, check_not_used, check_used
from tests.protocol.histories import asking
from tests.protocol.rawhttp import exchange, request

Namer = Callable[[str], str]

ODD_BUT_VALID = (
    "../../etc/passwd", "..", "a/b\\c", "%2e%2e%2f", "{'a':1}", "a;b=c", "a,b", "*", '"', "~",
    "NUL", "-rf", "<script>", "${x}", "x" * 256,
)  # fmt: skip
NOT_VALID = (
    b"", b" ", b"a b", b"a\tb", b"x" * 257, b"x" * 20000, "größe".encode(), b"\xff\xfe", b"\x80",
    "💡".encode(), b"a\x7f",
)  # fmt: skip


def ask_raw(talk: Talk, headers: list[tuple[bytes, bytes]]) -> tuple[int, dict[str, list[str]]]:
    body = talk.route.body(asking("What is fog?"), partial=None, stream=talk.stream, max_tokens=1)

    status, got, _ = exchange(
        talk.server, request(talk.route.path, json.dumps(body).encode(), headers)
    )
    return status, got


def test_name_1_and_2_odd_names_are_names(whole: Talk) -> None:
    history = asking("What is fog?")
    for odd in ODD_BUT_VALID:
        kept = Kept(odd, history, whole.ask(history, keep=odd, max_tokens=1))
        assert kept.answer.keep == "accepted"
        assert odd in whole.server.handles()
        answer = whole.ask(kept.then("Why?"), start=odd, max_tokens=1)
        assert answer.outcome == "used"


def test_name_1_and_2_what_is_no_name(talk: Talk, name: Namer) -> None:
    other = talk.kept(name("other"), asking("What is fog?"))
    before = talk.server.handles()
    for value in NOT_VALID:
        status, headers = ask_raw(talk, [(b"x-halogen-keep", value), (b"x-halogen-from", value)])
        assert status in (200, 400, 431), value[:20]
        if status == 200:
            assert headers["x-halogen-from"] == ["unknown"], value[:20]
            assert headers["x-halogen-keep"] == ["refused"], value[:20]
    # Bytes that HTTP itself forbids in a header may be refused before anything else.
    for value in (b"a\x00b", b"a\x01b", b"a\rb"):
        assert ask_raw(talk, [(b"x-halogen-keep", value)])[0] < 500
    assert talk.server.handles() == before
    check_used(talk, other, other.then("Why?"))


def test_name_1_repeated_headers(whole: Talk, name: Namer) -> None:
    """Two names are no name: nobody could tell which of them was meant."""
    one, two = name("one"), name("two")
    whole.kept(one, asking("What is fog?"))
    before = whole.server.handles()
    for header in (b"x-halogen-keep", b"X-Halogen-From"):
        pair = [(header, one.encode()), (header, two.encode())]
        status, headers = ask_raw(whole, pair)
        assert status == 200
        assert headers.get("x-halogen-from", ["unknown"]) == ["unknown"]
        assert headers.get("x-halogen-keep", ["refused"]) == ["refused"]
    assert whole.server.handles() == before


def test_name_2_case_counts(whole: Talk, name: Namer) -> None:
    low, high = name("plan"), name("PLAN")
    kept = whole.kept(low, asking("What is fog?"))
    check_not_used(whole, "unknown", kept.then("Why?"), high)
    other = whole.kept(high, asking("What is foam?"))
    check_used(whole, kept, kept.then("Why?"))
    check_used(whole, other, other.then("Why?"))


@pytest.mark.parametrize("spaces", [b"  %s", b"%s \t "])
def test_name_2_blanks_around_are_not_part_of_it(whole: Talk, name: Namer, spaces: bytes) -> None:
    """HTTP takes them off a header's value."""
    plan = name("plan")
    status, headers = ask_raw(whole, [(b"x-halogen-keep", spaces % plan.encode())])
    assert status == 200 and headers["x-halogen-keep"] == ["accepted"]
    assert plan in whole.server.handles()


def test_name_3_one_set_of_names_for_all(whole: Talk, name: Namer) -> None:
    """Another connection, streaming or not, with another key or none."""
    kept = whole.kept(name("plan"), asking("What is fog?"))
    other = Talk(whole.server, whole.route, stream=True)
    whole.server.http.headers["authorization"] = "Bearer somebody-else"
    try:
        check_used(other, kept, kept.then("Why?"))
    finally:
        del whole.server.http.headers["authorization"]
