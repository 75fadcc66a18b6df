"""P17: a client sends the newest messages only, for a conversation it believes is stored."""

from collections.abc import Callable

import pytest

from tests.claude_code.client import Thread
from tests.protocol.client import Talk
from tests.protocol.routes import ROUTES
from tests.protocol.server import Server
from tests.protocol.toolbox import tool_body

WORDS = "capability_rejected: beta_header:message-threads-2026-08-12"


@pytest.fixture
def messages(server: Server, stream: bool) -> Talk:
    return Talk(server, ROUTES["messages"], stream=stream)


def test_p17_a_fragment_is_refused_and_kept_nowhere(
    messages: Talk, name: Callable[[str], str]
) -> None:
    plan = name("plan")
    body = {**tool_body(messages, "When is high tide in the Bay?", "tide")}
    first = messages.post({**body, "thread": {"type": "create"}}, keep=plan)
    assert first.good.calls, "a thread that begins is a whole history"
    before = messages.server.handles()
    whole = messages.route.with_results(body, first.good, {first.good.calls[0].id: "at noon"})
    fragment = {
        **body,
        "messages": whole["messages"][-1:],
        "thread": {"type": "continue", "previous_message_id": "msg_1"},
    }
    for keep in (plan, name("never")):
        refused = messages.post(fragment, start=plan, keep=keep)
        assert refused.status == 400 and WORDS in messages.route.error(refused.body)
        # By this the official SDK knows that it must send all of it.
        assert refused.body["error"]["details"] == {"error_code": "thread_not_found"}
    assert messages.server.handles() == before
    assert messages.post(whole, start=plan).outcome == "used"


def test_p17_nor_under_a_mapped_name(mapped: Server) -> None:
    main = Thread(mapped, "44444444-0000-4000-8000-000000000000", system="Session 4. " * 40)
    main.turn("First question.")
    before = mapped.handles()
    fragment = main.body(
        [{"role": "user", "content": "Second question."}],
        thread={"type": "continue", "previous_message_id": "msg_1"},
    )
    got = mapped.http.post("/v1/messages", json=fragment, headers=main.headers("main"))
    assert got.status_code == 400 and WORDS in got.text
    assert mapped.handles() == before
    assert main.turn("Second question.").outcome == "used"
