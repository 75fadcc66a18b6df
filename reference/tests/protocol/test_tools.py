"""Tools on every route: calls that fit, calls that are history (FROM-11, P07)."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.protocol.client import Answer, Talk
from tests.protocol.routes import Json, Reply, ToolCall
from tests.protocol.toolbox import TIDE, TOOLS, fits, tool_body

Namer = Callable[[str], str]


def check_goes_on(talk: Talk, body: Json, start: str, keep: str | None = None) -> Answer:
    """A body that goes on from a kept one: used, cheap, and equal to its twin."""
    answer, twin = talk.post(body, start=start, keep=keep), talk.post(body)
    assert answer.outcome == "used"
    assert (answer.text, answer.finish, answer.good.prompt) == (
        twin.text, twin.finish, twin.good.prompt
    )  # fmt: skip
    assert answer.cost < twin.cost // 2
    return answer


def results(reply: Reply, text: str = "at noon") -> dict[str, str]:
    return {call.id: f"{call.name}: {text}" for call in reply.calls}


@pytest.mark.parametrize("choice", ["required", "tide", "wind"])
def test_forced_calls_have_arguments_that_fit(talk: Talk, choice: str) -> None:
    reply = talk.post(tool_body(talk, "When is high tide in the Bay?", choice)).good
    assert reply.finish == "calls" and reply.calls
    assert all(fits(call) for call in reply.calls), reply
    assert choice == "required" or {call.name for call in reply.calls} == {choice}


def test_none_calls_nothing(talk: Talk) -> None:
    reply = talk.post(tool_body(talk, "Use tools, use tide.", "none", limit=12)).good
    assert not reply.calls and reply.text


def test_several_calls_have_ids_of_their_own(talk: Talk, name: Namer) -> None:
    body = tool_body(talk, "Please use tools.")
    reply = talk.post(body, keep=name("calls")).good
    assert len(reply.calls) == 2 and all(fits(call) for call in reply.calls)
    assert len({call.id for call in reply.calls}) == 2
    found = talk.route.with_results(body, reply, results(reply))
    check_goes_on(talk, found, name("calls"))
    # parallel_tool_calls: false, or disable_parallel_tool_use: true.
    assert len(talk.post(tool_body(talk, "Please use tools.", parallel=False)).good.calls) == 1


def test_from_11_a_call_and_its_result_are_history(talk: Talk, name: Namer) -> None:
    body = tool_body(talk, "When is high tide in the Bay?", "tide")
    first = talk.post(body, keep=name("call")).good
    assert first.calls and name("call") in talk.server.handles()
    unforced = {**body, **talk.route.tools(TOOLS, "none")}
    told = talk.route.with_results(unforced, first, results(first))
    second = check_goes_on(talk, told, name("call"), keep=name("told"))
    # Siblings: another result starts from the call as well, and not from what knows the first.
    other = talk.route.with_results(unforced, first, results(first, "at one"))
    check_goes_on(talk, other, name("call"))
    more = talk.route.with_text(talk.route.with_results(told, second.good, {}), "Thank you.")
    check_goes_on(talk, more, name("told"))
    changed = talk.route.with_text(talk.route.with_results(other, second.good, {}), "Thank you.")
    assert talk.post(changed, start=name("told")).outcome == "unmatched"


def recalled(reply: Reply, **changes: str) -> Reply:
    return replace(reply, calls=(replace(reply.calls[0], **changes), *reply.calls[1:]))


def other_value(call: ToolCall) -> str:
    arguments = json.loads(call.arguments)
    return json.dumps({**arguments, "day": arguments["day"] + 1})


def backwards(call: ToolCall) -> str:
    return json.dumps(dict(reversed(json.loads(call.arguments).items())), indent=2)


def test_p07_arguments_are_values(talk: Talk, name: Namer) -> None:
    body = tool_body(talk, "When is high tide in the Bay?", "tide")
    reply = talk.post(body, keep=name("call")).good
    call = reply.calls[0]

    def outcome(told: Reply) -> str | None:
        on = talk.route.with_results(body, told, results(told))
        return talk.post(on, start=name("call")).outcome

    same = [backwards(call), json.dumps(json.loads(call.arguments), separators=(",", ":"))]
    for arguments in same:
        assert outcome(recalled(reply, arguments=arguments)) == "used", arguments
    # White space that clients drop and add beside a call is not part of the text.
    assert outcome(replace(reply, text=reply.text + "\n")) == "used"
    assert outcome(recalled(reply, arguments=other_value(call))) == "unmatched"
    assert outcome(recalled(reply, name="wind")) == "unmatched"
    assert outcome(replace(reply, text="I look.")) == "unmatched"


def test_from_4_tools_are_part_of_the_history_on_every_route(talk: Talk, name: Namer) -> None:
    body = tool_body(talk, "What is fog?", "none", limit=6)
    reply = talk.post(body, keep=name("plan")).good
    on = talk.route.with_text(talk.route.with_results(body, reply, {}), "Why?")
    check_goes_on(talk, on, name("plan"))
    schema = {**TIDE, "parameters": dict(reversed(TIDE["parameters"].items()))}
    for tools, outcome in (
        ([schema, TOOLS[1]], "used"),
        (TOOLS[:1], "unmatched"),
        ([{**TIDE, "description": "Never."}, TOOLS[1]], "unmatched"),
    ):
        asked = {**on, **talk.route.tools(tools, "none")}
        assert talk.post(asked, start=name("plan")).outcome == outcome
