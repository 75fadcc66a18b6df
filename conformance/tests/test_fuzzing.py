"""The fuzzing of the suite: bodies are tamed, answers are judged, and the time is kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.exchange import Ending, Exchange
from halogen_conformance.outcomes import Miss
from halogen_conformance.suite.fuzzing import Enough, Fuzzer, fuzz, tame

FAKE = str(Path(__file__).with_name("fake_server.py"))
GOOD = Exchange(
    method="POST",
    path="/v1/chat/completions",
    route="chat",
    request_headers=(),
    request_body="",
    at=0,
    seconds=0,
    ending=Ending.COMPLETE,
    status=400,
    headers=(("content-type", "application/json"),),
    body=b'{"error": {"message": "no", "type": "invalid_request_error", "param": null, '
    b'"code": null}}',
)


@pytest.fixture
def fuzzer() -> Fuzzer:
    return Fuzzer(Client("http://127.0.0.1:9"), cap=3, seconds=60)


@pytest.mark.parametrize(
    ("body", "tamed"),
    [
        ({"max_tokens": 9000, "n": 8}, {"max_tokens": 4, "n": 2}),
        ({"max_tokens": 2, "n": 1}, {"max_tokens": 2, "n": 1}),
        ({"max_output_tokens": 1e9, "input": "x"}, {"max_output_tokens": 4, "input": "x"}),
        ({"input": "x"}, {"input": "x", "max_output_tokens": 4}),
        ({"messages": []}, {"messages": [], "max_tokens": 4}),
        # What is wrong stays wrong.
        ({"max_tokens": "many", "n": True}, {"max_tokens": "many", "n": True}),
        ([1], [1]),
        (b"\x00", b"\x00"),
        (object(), None),
    ],
)
def test_a_body_asks_for_little_and_stays_what_it_is(body: Any, tamed: Any) -> None:
    assert tame(body) == tamed


def test_good_answers_pass(fuzzer: Fuzzer) -> None:
    fuzzer.judge(GOOD, asked=False)
    fuzzer.judge(GOOD, asked=True)
    fuzzer.judge(replace(GOOD, status=503), asked=False)
    fuzzer.judge(replace(GOOD, headers=(*GOOD.headers, ("x-halogen-from", "used"))), asked=True)


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"status": 500}, ""),
        ({"status": None, "ending": Ending.DIED}, ""),
        ({"body": b'{"detail": "no"}'}, ""),
        ({"headers": (*GOOD.headers, ("x-halogen-from", "perhaps"))}, ""),
        ({"status": 200, "route": None}, "FROM-1"),
        ({"status": 200, "route": None, "headers": (("x-halogen-from", "used"),) * 2}, "FROM-1"),
    ],
)
def test_wrong_answers_are_missed(fuzzer: Fuzzer, change: dict[str, Any], row: str) -> None:
    with pytest.raises(Miss) as caught:
        fuzzer.judge(replace(GOOD, **change), asked=True)
    assert caught.value.requirement == row


def test_a_miss_is_raised_however_the_run_ends_and_the_end_of_time_is_not(fuzzer: Fuzzer) -> None:
    def wrapped(end: Exception) -> None:
        fuzzer.ended = end if isinstance(end, Enough | Miss) else None
        raise RuntimeError("flaky")

    fuzzer.run(lambda: wrapped(Enough()))
    with pytest.raises(Miss):
        fuzzer.run(lambda: wrapped(Miss("a", "b")))
    with pytest.raises(RuntimeError, match="flaky"):
        fuzzer.run(lambda: wrapped(ValueError()))


@pytest.fixture
def server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, FAKE, "0"], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()


def test_cases_reach_a_server_and_its_mistakes_come_back(server: str, tmp_path: Path) -> None:
    # The fake server falls over bodies it does not know: a 5xx, or no answer at all.
    fuzzer = Fuzzer(Client(server), cap=None, seconds=30)
    with pytest.raises(Miss):
        fuzz(fuzzer, "responses", 0, tmp_path, valid=False)
    assert fuzzer.sent > 0
