"""P08: reasoning that a client sends back on one turn and leaves out on the next (FROM-12)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.protocol.client import Talk
from tests.protocol.routes import ROUTES, Json, Route
from tests.protocol.server import Server, running


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A model that thinks before it speaks."""
    log = tmp_path_factory.mktemp("thinker") / "log"
    with running("simulator", log, {"HALOGEN_FORK": "1"}, "--reasoning") as server:
        yield server


def asked(route: Route) -> Json:
    return route.body((("user", "What is fog?"),), partial=None, stream=False, max_tokens=400)


def thought(route: Route, answer: Json) -> str:
    """The reasoning in an answer."""
    match route.name:
        case "chat":
            return str(answer["choices"][0]["message"]["reasoning_content"])
        case "messages":
            return str(answer["content"][0]["thinking"])
        case _:
            return str(answer["output"][0]["content"][0]["text"])


def sent_back(route: Route, text: str, reasoning: str | None) -> list[Json]:
    """The reply in the next request's history."""
    said: Json = {"role": "assistant", "content": text}
    if reasoning is None:
        return [said]
    match route.name:
        case "chat":
            return [{**said, "reasoning_content": reasoning}]
        case "messages":
            blocks = [
                {"type": "thinking", "thinking": reasoning, "signature": ""},
                {"type": "text", "text": text},
            ]
            return [{"role": "assistant", "content": blocks}]
        case _:
            content = [{"type": "reasoning_text", "text": reasoning}]
            return [{"type": "reasoning", "id": "rs_1", "summary": [], "content": content}, said]


@pytest.mark.parametrize("by", sorted(ROUTES))
def test_p08_one_rule_on_every_route(thinker: Server, by: str) -> None:
    """Sent back as it was: used. Left out or altered: another history, and a reply of its own."""
    route = ROUTES[by]
    talk = Talk(thinker, route, stream=False)
    first = talk.post(asked(route), keep="plan")
    reasoning = thought(route, first.body)
    assert reasoning and first.text
    field = "input" if by == "responses" else "messages"

    def on(sent: str | None) -> Json:
        body: dict[str, Any] = asked(route)
        history = [*body[field], *sent_back(route, first.text, sent)]
        return {**body, field: [*history, {"role": "user", "content": "Why?"}]}

    outcomes = {}
    for case, sent in (("as it was", reasoning), ("left out", None), ("altered", reasoning + "!")):
        answer = talk.post(on(sent), start="plan")
        assert answer.text == talk.post(on(sent)).text
        outcomes[case] = answer.outcome
    assert outcomes == {"as it was": "used", "left out": "unmatched", "altered": "unmatched"}
    assert json.dumps(reasoning)[1:-1] not in json.dumps(talk.post(on(None), start="plan").body)
