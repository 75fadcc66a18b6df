"""P10: a system message in the middle of a conversation, moved to its beginning by the server."""

from collections.abc import Callable

import pytest

from tests.protocol.client import SLACK, Talk
from tests.protocol.routes import Json
from tests.protocol.toolbox import TOOLS, tool_body


@pytest.mark.parametrize("role", ["system", "developer"])
def test_p10_a_late_system_message_extends_the_history(
    talk: Talk, name: Callable[[str], str], role: str
) -> None:
    if role == "developer" and talk.route.name == "messages":
        role = "system"  # it knows no other

    def told(body: Json, text: str) -> Json:
        field = "input" if talk.route.name == "responses" else "messages"
        return {**body, field: [*body[field], {"role": role, "content": text}]}

    plan = name("plan")
    body = tool_body(talk, "When is high tide in the Bay?", "tide")
    before = talk.post(body, keep=plan).good
    for left in (900, 800):
        found = {call.id: "at noon" for call in before.calls}
        body = told(talk.route.with_results(body, before, found), f"{left} tokens left")
        body |= talk.route.tools(TOOLS, "wind" if left == 900 else "none")
        answer, twin = talk.post(body, start=plan, keep=plan), talk.post(body)
        assert answer.outcome == "used"
        assert (answer.text, answer.good.prompt) == (twin.text, twin.good.prompt)
        # Only what came after the reply is read: the late message has not moved to the front.
        assert answer.cost <= twin.good.prompt - before.prompt - before.output + SLACK
        before = answer.good
