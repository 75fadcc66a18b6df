"""Short memory under the sessions, on the real model: a name's memory is given up for a request
that needs it, also for one that started from that name (LIFE-4, LIFE-6, FROM-6)."""

import asyncio
from contextlib import aclosing

import pytest

from halogen_reference import settings
from halogen_reference.call import Call, Opening, Sampling
from halogen_reference.conversation import Assistant, Conversation, User, conversation
from halogen_reference.engine.llama.engine import LlamaEngine
from halogen_reference.reply import Admitted, ReplyEnd
from halogen_reference.server import Server, build
from halogen_reference.sessions.sessions import Outcome, Wish
from halogen_reference.turn import Turn
from tests.engine.asking import until_empty

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASK = conversation([User("Tell me a long story about the sea.")])


def serve(engine: LlamaEngine) -> Server:
    return build(engine, settings.read({"HALOGEN_FORK": "1"}))


async def open_turn(
    server: Server, history: Conversation, out: int, wish: Wish, n: int = 1
) -> Turn:
    last = history.items[-1]
    opening = Opening.CONTINUE if isinstance(last, Assistant) else Opening.REPLY
    # The end of the turn is banned: the replies are as long as they are meant to be.
    (end,) = server.engine.encode("<|im_end|>", True)
    sampling = Sampling(temperature=0, logit_bias=((end, -1000.0),))
    call = Call("m", history, opening, sampling, out, n=n)
    return await Turn.open(server.engine, server.sessions, server.metrics, call, wish)


async def read(turn: Turn) -> list[ReplyEnd]:
    ends = []
    async with asyncio.timeout(60), aclosing(turn.events()) as events:
        async for _, event in events:
            if isinstance(event, ReplyEnd):
                ends.append(event)
    return ends


async def text(server: Server, history: Conversation, out: int, wish: Wish = Wish()) -> str:  # noqa: B008
    (end,) = await read(await open_turn(server, history, out, wish))
    return end.assistant.text


async def empty(server: Server, engine: LlamaEngine) -> None:
    while server.sessions.table.release_least_recent():
        pass
    await until_empty(engine)


async def test_a_branch_that_outgrows_the_memory_beside_its_parent(tight: LlamaEngine) -> None:
    """It started from the name; then the name's own memory is the only one left to take."""
    server = serve(tight)
    story = await text(server, ASK, 50, Wish(keep="a"))
    branch = conversation([*ASK.items, Assistant(story[:4])])
    turn = await open_turn(server, branch, 55, Wish(start_from="a"))
    assert turn.outcome is Outcome.USED
    (end,) = await read(turn)
    assert end.usage.output == 55
    await empty(server, tight)


async def test_one_that_waits_does_not_hold_the_memory_others_need(tight: LlamaEngine) -> None:
    """The queue's first needs what the queue's second would start from."""
    server = serve(tight)
    story = await text(server, ASK, 30, Wish(keep="a"))
    follow = conversation([*ASK.items, Assistant(story), User("Why?")])
    first = await open_turn(server, conversation([User("word " * 45)]), 4, Wish())
    second = await open_turn(server, follow, 4, Wish(start_from="a"))
    assert second.outcome is Outcome.USED
    (one,), (two,) = await asyncio.gather(read(first), read(second))
    assert one.usage.output == two.usage.output == 4
    await empty(server, tight)


@pytest.mark.parametrize("n", [1, 2])
async def test_a_name_that_goes_before_the_request_is_queued(engine: LlamaEngine, n: int) -> None:
    """LIFE-6: decided to start from it, and released before anything was submitted."""
    server = serve(engine)
    story = await text(server, ASK, 6, Wish(keep="a"))
    follow = conversation([*ASK.items, Assistant(story), User("Why?")])
    turn = await open_turn(server, follow, 5, Wish(start_from="a"), n)
    server.sessions.table.release("a")
    ends = await read(turn)
    assert [end.assistant.text for end in ends] == [await text(server, follow, 5)] * n
    assert ends[0].usage.cached > 0, "it is used, as was said"
    await until_empty(engine)


async def test_a_turn_that_is_not_read_leaves_nothing(engine: LlamaEngine) -> None:
    """Closed before its first event, as when the client is gone already."""
    server = serve(engine)
    story = await text(server, ASK, 6, Wish(keep="a"))
    follow = conversation([*ASK.items, Assistant(story), User("Why?")])
    turn = await open_turn(server, follow, 5, Wish(start_from="a"))
    turn.close()
    turn.close()
    (entry,) = server.sessions.table.live()
    assert entry.users == 0
    await empty(server, engine)


async def test_the_first_event_says_what_is_reused(engine: LlamaEngine) -> None:
    """FROM-7, before the first text; and the end says the same."""
    server = serve(engine)
    story = await text(server, ASK, 6, Wish(keep="a"))
    follow = conversation([*ASK.items, Assistant(story), User("Why?")])
    turn = await open_turn(server, follow, 5, Wish(start_from="a"))
    async with aclosing(turn.events()) as events:
        seen = [event async for _, event in events]
    first, last = seen[0], seen[-1]
    assert isinstance(first, Admitted) and isinstance(last, ReplyEnd)
    assert first.usage.prompt == last.usage.prompt
    # The reply's last token is evaluated by whoever goes on from it.
    assert first.usage.cached - last.usage.cached in (0, 1) and last.usage.cached > 0
    await empty(server, engine)
