"""WIRE-6: requests made at random from the OpenAPI document, and walks along its links."""

from __future__ import annotations

from pathlib import Path

import pytest

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers.client import Client
from halogen_conformance.order import Order
from halogen_conformance.outcomes import NotOffered, arranged, expect
from halogen_conformance.recorder import Recorder
from halogen_conformance.suite.fuzzing import Fuzzer, follow_links, fuzz
from halogen_conformance.suite.kept import SHORT, fresh
from halogen_conformance.suite.marks import requirement
from halogen_conformance.target.target import Running

SECONDS = 1.0
"""For each operation and kind of case. Making a case takes as long as many an answer."""


@pytest.fixture
def fuzzer(client: Client, server: Running, order: Order) -> Fuzzer:
    if not order.fuzz:
        raise NotOffered("left out by --no-fuzz")
    return Fuzzer(client, server.handles, SECONDS + 4 * order.slow)


@pytest.mark.parametrize("valid", [True, False], ids=["valid", "not"])
@pytest.mark.parametrize("operation", ["chat", "messages", "count_tokens", "responses"])
@requirement("WIRE-6")
def test_random_requests(
    fuzzer: Fuzzer, recorder: Recorder, order: Order, tmp_path: Path, operation: str, valid: bool
) -> None:
    fuzz(fuzzer, operation, order.seed, tmp_path, valid=valid)

    recorder.note(f"{fuzzer.sent} requests, {fuzzer.answered} answered with 200")
    arranged(fuzzer.sent > 0, "no request was made in time")
    _expect_alive(fuzzer.client)


@requirement("WIRE-6")
def test_walks_along_the_links(
    fuzzer: Fuzzer, recorder: Recorder, order: Order, tmp_path: Path
) -> None:
    fuzzer.seconds *= 3
    follow_links(fuzzer, order.seed, tmp_path)

    recorder.note(f"{fuzzer.sent} requests, {fuzzer.answered} answered with 200")
    arranged(fuzzer.sent > 0, "no request was made in time")
    fuzzer.look()
    _expect_alive(fuzzer.client)


def _expect_alive(client: Client) -> None:
    answer = client.ask(CHAT, fresh("after the storm"), SHORT)
    expect(answer.ok, expected="an ordinary request answered afterwards", actual=answer.story)
