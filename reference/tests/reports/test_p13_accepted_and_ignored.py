"""P13: what is accepted must count, and instructions are the new request's own."""

from collections.abc import Callable

import pytest

from tests.protocol.client import Kept, Talk, check_not_used, check_used
from tests.protocol.histories import asking
from tests.protocol.routes import ROUTES, Json
from tests.protocol.server import Server

Namer = Callable[[str], str]


def test_p13_other_instructions_are_another_history(talk: Talk, name: Namer) -> None:
    kept = talk.kept(name("plan"), asking("What is fog?", system="Speak of the sea only."))
    true = kept.then("Why?")
    other = (("system", "Speak of hills only."), *true[1:])
    check_not_used(talk, "unmatched", other, kept.name)
    check_used(talk, kept, true)


@pytest.mark.parametrize(
    "stored",
    [
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"prompt": {"id": "pmpt_1"}},
        {"background": True},
    ],
    ids=["previous_response_id", "conversation", "prompt", "background"],
)
def test_p13_what_would_need_a_store_is_refused(server: Server, name: Namer, stored: Json) -> None:
    talk = Talk(server, ROUTES["responses"], stream=False)
    kept = talk.kept(name("plan"), asking("What is fog?"))
    body = talk.route.body(kept.then("Why?"), partial=None, stream=False)
    refused = talk.post({**body, **stored}, start=kept.name, keep=kept.name)
    assert refused.status == 400 and refused.outcome in ("used", "unmatched")
    assert next(iter(stored)) in talk.route.error(refused.body)
    check_used(talk, Kept(kept.name, kept.history, kept.answer), kept.then("Why?"))
