"""While a prompt is read, a stream shows that it lives, in each route's own form (P19)."""

import httpx
import pytest

from halogen_reference.http import replies
from halogen_reference.settings import read
from halogen_simulator.assembly import assemble
from halogen_simulator.engine import Character
from halogen_simulator.script import parse
from tests.protocol.histories import asking
from tests.protocol.routes import Route, sse

SLOW = parse([{"when": {"text": "Think"}, "say": "At last.", "delay_s": 0.5}])


async def streamed(route: Route) -> str:
    """A whole stream, with half a second of silence in it."""
    simulator = assemble(read({"HALOGEN_FORK": "1"}), Character(script=SLOW))
    transport = httpx.ASGITransport(simulator.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://simulator") as http:
        body = route.body(asking("Think first."), partial=None, stream=True, max_tokens=60)
        got = await http.post(route.path, json=body)
    assert got.status_code == 200
    return got.text


def is_ping(block: str, route: Route) -> bool:
    match route.name:
        case "chat":
            # Nothing but a comment is understood by every client of this route.
            return block.startswith(":")
        case "messages":
            return block == 'event: ping\ndata: {"type":"ping"}'
        case _:
            # Comments do not reset this route's clients' timers: it must be an event, and every
            # client knows this one.
            return block.startswith("event: response.in_progress\n")


async def test_p19_a_silent_stream_shows_that_it_lives(
    route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "KEEPALIVE_S", 0.05)
    text = await streamed(route)
    blocks = text.removesuffix("\n\n").split("\n\n")
    pings = [at for at, block in enumerate(blocks) if is_ping(block, route)]
    assert len(pings) >= 3, text
    # Whole events between the first and the rest: clients know of none before the first.
    assert min(pings) > 0
    assert not any(line.startswith(("id:", "retry:")) for line in text.splitlines())
    reply = route.streamed(sse(text.splitlines()))
    assert reply.text == "At last."


async def test_a_stream_that_is_not_silent_needs_no_signs(route: Route) -> None:
    """At the usual patience half a second is no silence."""
    blocks = (await streamed(route)).removesuffix("\n\n").split("\n\n")
    # One such event begins every stream of Responses.
    assert sum(is_ping(block, route) for block in blocks) == (route.name == "responses")
