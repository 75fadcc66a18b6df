"""The three routes answer one conversation alike, and share its names (FROM-10)."""

from collections.abc import Callable

from tests.protocol.client import Talk, check_branch, check_same, check_used
from tests.protocol.histories import asking
from tests.protocol.routes import ROUTES
from tests.protocol.toolbox import TOOLS, tool_body

Namer = Callable[[str], str]
HISTORY = (*asking("What is fog?"), ("assistant", "A cloud."), ("user", "Is it cold?"))


def test_the_same_greedy_text_by_every_route(talk: Talk) -> None:
    chat = Talk(talk.server, ROUTES["chat"], stream=False)
    for history in (HISTORY, asking("Hi"), (("user", "Say hi."), ("system", "Be brief."))):
        check_same(talk.ask(history, max_tokens=12), chat.twin(history, max_tokens=12))
    partial = talk.ask(HISTORY, partial="Yes, it")
    check_same(partial, chat.twin(HISTORY, partial="Yes, it"))


def test_from_10_a_name_of_one_route_is_used_on_another(talk: Talk, name: Namer) -> None:
    """Kept by this route; started from by each of the three."""
    kept = talk.kept(name("plan"), HISTORY, max_tokens=12)
    text = kept.answer.text
    for route in ROUTES.values():
        other = Talk(talk.server, route, stream=talk.stream)
        check_used(other, kept, kept.then("Why?"))
        check_branch(other, kept, text[: len(text) // 2], max_tokens=4)


def test_from_10_with_calls_and_results(talk: Talk, name: Namer) -> None:
    body = tool_body(talk, "When is high tide in the Bay?", "tide")
    reply = talk.post(body, keep=name("call")).good
    found = {call.id: "at noon" for call in reply.calls}
    for route in ROUTES.values():
        other = Talk(talk.server, route, stream=talk.stream)
        asked = tool_body(other, "When is high tide in the Bay?")
        on = route.with_results({**asked, **route.tools(TOOLS, "none")}, reply, found)
        answer = other.post(on, start=name("call"))
        assert answer.outcome == "used", route.name
        assert answer.text == other.post(on).text
