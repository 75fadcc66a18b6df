"""P14: a line before the system prompt that differs on every request of one conversation."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.protocol.client import Talk
from tests.protocol.routes import ROUTES, Json
from tests.protocol.server import Server

Namer = Callable[[str], str]
SYSTEM = "Answer in one short sentence."


def line(number: int, more: str = "") -> str:
    return f"x-anthropic-billing-header: cc_version=2.1.{number}; cch={number:05x};{more}"


SPELLINGS: dict[str, Callable[[int], Any]] = {
    "a block of its own": lambda n: [text(line(n)), text(SYSTEM)],
    "the first line of a string": lambda n: f"{line(n)}\n{SYSTEM}",
    "the first line of a block": lambda n: [text(f"{line(n)}\n{SYSTEM}")],
    "more fields than are known": lambda n: [text(line(n, f" new_field={n};")), text(SYSTEM)],
}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


@pytest.fixture
def messages(server: Server, stream: bool) -> Talk:
    return Talk(server, ROUTES["messages"], stream=stream)


def body(talk: Talk, system: Any, *turns: tuple[str, str]) -> Json:
    return {**talk.route.body(turns, partial=None, stream=talk.stream), "system": system}


ASK = ("user", "What is fog?")


@pytest.mark.parametrize("case", SPELLINGS)
def test_p14_the_line_never_counts(messages: Talk, name: Namer, case: str) -> None:
    plan = name("plan")
    first = messages.post(body(messages, SPELLINGS[case](1), ASK), keep=plan)
    on = (ASK, ("assistant", first.text), ("user", "Why?"))
    bare = messages.post(body(messages, SYSTEM, *on))
    systems = [spelling(number) for number, spelling in enumerate(SPELLINGS.values(), start=2)]
    for system in (*systems, SYSTEM):
        answer = messages.post(body(messages, system, *on), start=plan)
        assert answer.outcome == "used"
        assert (answer.text, answer.good.prompt) == (bare.text, bare.good.prompt)
        assert answer.cost < bare.cost // 2
    other = body(messages, SYSTEM + "!", *on)
    assert messages.post(other, start=plan).outcome == "unmatched"


def test_p14_the_only_block_leaves_no_empty_system_prompt(messages: Talk) -> None:
    only = messages.post(body(messages, [text(line(1))], ASK))
    none = messages.post(messages.route.body((ASK,), partial=None, stream=messages.stream))
    assert (only.text, only.good.prompt) == (none.text, none.good.prompt)


@pytest.mark.parametrize("opening", ["{}\nWhat does it mean?", "What is this? {}", "{}"])
def test_p14_who_quotes_the_line_keeps_it(messages: Talk, name: Namer, opening: str) -> None:
    plan = name("plan")
    quote = ("user", opening.format(line(1)))
    first = messages.post(body(messages, SYSTEM, quote), keep=plan)
    more = (("assistant", first.text), ("user", "Why?"))
    assert messages.post(body(messages, SYSTEM, quote, *more), start=plan).outcome == "used"
    changed = ("user", quote[1].replace("00001", "00002"))
    assert messages.post(body(messages, SYSTEM, changed, *more), start=plan).outcome == "unmatched"
    # A system prompt that quotes it further down keeps it as well.
    quoting = f"{SYSTEM}\n{line(1)}"
    kept = messages.post(body(messages, quoting, ASK), keep=plan)
    on = (ASK, ("assistant", kept.text), ("user", "Why?"))
    assert messages.post(body(messages, quoting, *on), start=plan).outcome == "used"
    assert messages.post(body(messages, SYSTEM, *on), start=plan).outcome == "unmatched"
