"""URL targets, and the table of settings both kinds of targets share."""

import socket
import threading
from contextlib import suppress

import pytest

from halogen_conformance.target import GROUPS, Declared, TargetError, Trouble, UrlTarget
from halogen_conformance.target.settings import GOVERNED


@pytest.mark.parametrize("url", ["ftp://x", "", "http://u:p@host", "not a url", "http://a,b"])
def test_what_is_no_url_is_bad_usage(url: str) -> None:
    with pytest.raises(TargetError) as caught:
        UrlTarget(url)
    assert caught.value.trouble is Trouble.BAD_USAGE


def test_a_url_offers_what_is_declared_and_says_what_is_missing() -> None:
    bare = UrlTarget("http://127.0.0.1:1")
    assert [group for group in GROUPS if bare.offers(group)] == ["on"]
    assert "--ttl" in bare.offers("ttl").reason
    assert "--handles" in bare.offers("cap").reason
    assert "--key" in bare.offers("key").reason
    assert "--claude-code" in bare.offers("map").reason
    assert "after --" in bare.offers("restart").reason
    told = UrlTarget("http://127.0.0.1:1", Declared(2, 8, "k", claude_code=True))
    assert [group for group in GROUPS if told.offers(group)] == ["on", "ttl", "cap", "key", "map"]
    assert "too long" in UrlTarget("http://x", Declared(600)).offers("ttl").reason
    assert (told.running("ttl").ttl_s, told.handles, told.key) == (2, 8, "k")
    with pytest.raises(KeyError, match="moon"):
        told.offers("moon")


def test_nobody_there_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(TargetError, match="is the server running there") as caught:
        UrlTarget(f"http://127.0.0.1:{port}").check_alive()
    assert caught.value.trouble is Trouble.UNREACHABLE
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", None), (b"220 mail\r\n", Trouble.GARBAGE)],
)
def test_any_status_is_alive_and_garbage_is_not(answer: bytes, trouble: Trouble | None) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    target = UrlTarget(f"127.0.0.1:{listener.getsockname()[1]}")
    try:
        if trouble is None:
            target.check_alive()
        else:
            with pytest.raises(TargetError) as caught:
                target.check_alive()
            assert caught.value.trouble is trouble
    finally:
        thread.join(10)
        listener.close()


def test_settings_set_only_governed_variables_and_only_what_they_need() -> None:
    for settings in GROUPS.values():
        assert set(settings.environment()) <= set(GOVERNED)
    assert GROUPS["off"].environment() == {}
    assert GROUPS["default"].environment() == {"HALOGEN_FORK": "1"}
    assert GROUPS["ttl"].environment()["HALOGEN_FORK_TTL_S"] == "2"
    assert GROUPS["keys"].environment()["HALOGEN_API_KEY"].count(",") == 1
    assert "HALOGEN_FORK" not in GROUPS["map-off"].environment()


def test_names_live_longer_on_a_slow_target() -> None:
    ttl = GROUPS["ttl"]
    assert ttl.slower(0) is ttl
    assert ttl.slower(3).ttl_s == 20
    assert GROUPS["on"].slower(3) is GROUPS["on"]
