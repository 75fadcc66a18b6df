"""Mistakes in what the headers say and which requests they count on (SWITCH, FROM-1, FROM-5)."""

from dataclasses import replace
from typing import Any

from halogen_reference.settings import Settings
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.wire import FROM, KEEP, Answered, Asked, Edit, without


def _switched_on(settings: Settings) -> Settings:
    return replace(settings, fork=True)


def _always(asked: Asked, answered: Answered) -> None:
    if asked.is_reply and asked.header(FROM) is None:
        answered.headers.append((FROM, b"unknown"))


def _not_streaming(asked: Asked, answered: Answered) -> None:
    if asked.is_stream:
        answered.headers = without(answered.headers, FROM)


def _only_used(asked: Asked, answered: Answered) -> None:
    if (FROM, b"used") not in answered.headers:
        answered.headers = without(answered.headers, FROM)


def _twice(asked: Asked, answered: Answered) -> None:
    answered.headers += [pair for pair in answered.headers if pair[0] == FROM]


def _instead(wrong: bytes, right: bytes) -> Edit:
    def answer(asked: Asked, answered: Answered) -> None:
        answered.headers = [
            (name, wrong if name == FROM and value == right else value)
            for name, value in answered.headers
        ]

    return Edit(answer=answer)


def _no_keep_on_stream(asked: Asked) -> None:
    if asked.is_stream:
        asked.headers = without(asked.headers, KEEP)


def _no_headers_on_responses(asked: Asked) -> None:
    if asked.path == "/v1/responses":
        asked.headers = without(asked.headers, KEEP, FROM)


def _names_break(asked: Asked) -> tuple[int, Any] | None:
    names = [asked.header(name) or "" for name in (KEEP, FROM)]
    if asked.is_reply and any(len(name) > 128 or not name.isascii() for name in names):
        error = {"message": "name", "type": "server_error", "param": None, "code": None}
        return 500, {"error": error}
    return None


FAULTS = (
    Fault(
        "active-when-off",
        ("SWITCH-1", "SWITCH-3", "MAP-6"),
        "The headers work without HALOGEN_FORK=1.",
        settings=_switched_on,
    ),
    Fault(
        "header-on-everything",
        ("SWITCH-2", "SWITCH-1"),
        "Answers to requests without X-Halogen-From have the header, too.",
        app=Edit(answer=_always),
    ),
    Fault(
        "no-header-on-stream",
        ("FROM-1",),
        "Streamed answers have no X-Halogen-From.",
        app=Edit(answer=_not_streaming),
    ),
    Fault(
        "header-only-when-used",
        ("FROM-1", "FROM-4", "FROM-5"),
        "X-Halogen-From is sent only when it is good news.",
        app=Edit(answer=_only_used),
    ),
    Fault(
        "header-twice",
        ("FROM-1",),
        "X-Halogen-From stands in the answer twice.",
        app=Edit(answer=_twice),
    ),
    Fault(
        "unknown-is-unmatched",
        ("FROM-5", "LIFE-1"),
        "Says unmatched of a name there never was.",
        app=_instead(b"unmatched", b"unknown"),
    ),
    Fault(
        "unmatched-is-unknown",
        ("FROM-4",),
        "Says unknown of a live name whose history differs.",
        app=_instead(b"unknown", b"unmatched"),
    ),
    Fault(
        "no-keep-on-stream",
        ("KEEP-1",),
        "Streamed replies are not kept.",
        app=Edit(ask=_no_keep_on_stream),
    ),
    Fault(
        "no-headers-on-responses",
        ("FROM-1", "KEEP-1"),
        "/v1/responses does not know the headers.",
        app=Edit(ask=_no_headers_on_responses),
    ),
    Fault(
        "odd-names-break-it",
        ("NAME-1",),
        "A long or non-ASCII name is answered with a 500.",
        app=Edit(ask=_names_break),
    ),
)
