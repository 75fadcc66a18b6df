"""Made-up traffic has the shapes that were seen, and is told apart as the recorded is."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halogen_simulator.traffic import kinds
from halogen_simulator.traffic.clients import CLIENTS
from halogen_simulator.traffic.generator import Plan, Planned, traffic
from halogen_simulator.traffic.hindsight import Hindsight
from halogen_simulator.traffic.recording import AGENT, HINTS, PARENT, SESSION, blocks, load

PLANS = st.builds(
    Plan,
    sessions=st.integers(1, 3),
    turns=st.integers(1, 14),
    agents=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    client=st.sampled_from(sorted(CLIENTS)),
    hints=st.booleans(),
    words=st.just(6),
)


@given(PLANS)
@settings(max_examples=40, deadline=None)
def test_what_was_made_is_what_hindsight_sees(plan: Plan) -> None:
    """The generator knows what it makes; hindsight knows the requests alone."""
    made = traffic(plan)
    seen = Hindsight([planned.record for planned in made]).placed()
    assert [one.kind.name for one in seen] == [planned.kind.name for planned in made]


def test_every_kind_is_there() -> None:
    made = traffic(Plan(turns=10, seed=5))
    beside = {kinds.OTHER, kinds.AGAIN, kinds.STRANGER_TURN}
    assert {planned.kind for planned in made} == set(kinds.KINDS.values()) - beside


def test_the_same_seed_makes_the_same_traffic() -> None:
    lines = [[planned.record.line() for planned in traffic(Plan(seed=seed))] for seed in (1, 1, 2)]
    assert lines[0] == lines[1] != lines[2]


def test_subagents_that_do_not_say_who_they_are() -> None:
    """Their requests look like the main thread's, so nothing is demanded of their turns."""
    made = traffic(Plan(turns=10, seed=5, client="1.0.100"))
    assert not any(AGENT in planned.record.headers for planned in made)
    seen = {planned.kind for planned in made}
    assert {kinds.STRANGER, kinds.STRANGER_TURN} < seen
    assert not {kinds.SUB_FIRST, kinds.SUB_TURN, kinds.FORK} & seen


def test_a_request_that_is_sent_again() -> None:
    """After a failure, say. It may find what the first one left, or not."""
    made = [planned.record for planned in traffic(Plan(turns=1))]
    again = [replace(made[-1], n=made[-1].n + 1), replace(made[1], n=made[-1].n + 2)]
    assert [one.kind for one in Hindsight([*made, *again]).placed()[-2:]] == [kinds.AGAIN] * 2


def test_its_size() -> None:
    small, large = Plan(sessions=1, turns=2, agents=1), Plan(sessions=3, turns=20, agents=5)
    assert len(traffic(small)) < 20 < 200 < len(traffic(large))
    sessions = Counter(planned.record.thread.session for planned in traffic(large))
    sessions.pop("", None)  # the signs of life
    assert len(sessions) >= 3
    agents = {planned.record.headers.get(AGENT) for planned in traffic(large)}
    assert len(agents) > 10


@pytest.mark.parametrize("client", sorted(CLIENTS))
@pytest.mark.parametrize("hints", [False, True])
def test_what_the_headers_say(client: str, hints: bool) -> None:
    made = _turns(traffic(Plan(client=client, hints=hints, seed=3)))
    by_header = CLIENTS[client].session_in == "header"
    for planned in made:
        record = planned.record
        assert (SESSION in record.headers) == by_header
        assert record.thread.session and record.thread.key == "sk-example-key-1"
        assert bool(HINTS & record.headers.keys()) == hints
        assert PARENT not in record.headers or AGENT in record.headers
    nested = [planned for planned in made if PARENT in planned.record.headers]
    assert bool(nested) == CLIENTS[client].names_agents
    assert all(planned.kind is not kinds.FORK for planned in nested)


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_one_message_is_spelled_in_several_ways(client: str) -> None:
    """Lists and strings, marks that move, ``is_error: false`` that comes and goes (FROM-8)."""
    texts, marks, errors, results = set(), set(), set(), set()
    for planned in _turns(traffic(Plan(client=client, seed=3))):
        for message in planned.record.messages:
            content = message["content"]
            if message["role"] == "user" and len(blocks(content)) == 1:
                texts.add(type(content))
            for block in blocks(content):
                marks.add("cache_control" in block)
                if block["type"] == "tool_result":
                    errors.add("is_error" in block)
                    results.add(type(block["content"]))
    assert texts == results == {str, list}
    assert marks == errors == {False, True}


def test_the_attribution_line() -> None:
    for client, same in (("2.1.332", True), ("2.1.332-prompt", False)):
        lines = {
            planned.record.body["system"][0]["text"]
            for planned in _turns(traffic(Plan(client=client)))
            if planned.record.thread.agent is None and planned.kind is not kinds.PROBE
        }
        assert all(line.startswith("x-anthropic-billing-header: cc_version=2") for line in lines)
        assert (len(lines) == 1) == same


def test_a_fork_repeats_its_parent_up_to_its_own_call() -> None:
    made = traffic(Plan(agents=3, seed=5))
    by_number = {planned.record.n: planned.record for planned in made}
    seen = Hindsight(list(by_number.values())).placed()
    forks = [one for one in seen if one.kind is kinds.FORK]
    assert len(forks) == 3
    for fork in forks:
        assert fork.base is not None and not fork.whole
        parent, messages = by_number[fork.base], fork.record.messages
        assert len(messages) == len(parent.messages) + 2
        (call,) = messages[-2]["content"]
        result, task = messages[-1]["content"]
        assert call["id"] == result["tool_use_id"] and task["type"] == "text"
    called = {fork.record.messages[-2]["content"][0]["id"] for fork in forks}
    assert len(called) == 3


def test_the_fields_of_the_recorded_requests() -> None:
    """What the recordings' bodies and headers have, the generated have: no more, no less."""
    for hints in (True, False):
        recorded = load("with-hints" if hints else "without-hints")
        made = [planned.record for planned in traffic(Plan(hints=hints, seed=5))]
        for agent in (False, True):
            then, now = (
                [
                    record
                    for record in records
                    if record.route == "/v1/messages"
                    and record.body.get("tools")
                    and (AGENT in record.headers) == agent
                ]
                for records in (recorded, made)
            )
            assert _keys(record.body for record in now) == _keys(record.body for record in then)
            beside = {"x-claude-code-prompt-id", "x-claude-code-prev-tool-durations", PARENT}
            assert (
                _keys(record.headers for record in now) - beside
                == _keys(record.headers for record in then) - beside
            )
    assert json.loads(recorded[-1].body["metadata"]["user_id"]).keys() == (
        json.loads(made[-1].body["metadata"]["user_id"]).keys()
    )


def _turns(made: list[Planned]) -> list[Planned]:
    return [planned for planned in made if planned.record.method == "POST"]


def _keys(values: object) -> set[str]:
    assert hasattr(values, "__iter__")
    return {key for value in values for key in value}
