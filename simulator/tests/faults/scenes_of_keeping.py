"""Scenes of keeping and joining; see ``scene``."""

import asyncio
from pathlib import Path

from halogen_simulator.engine import Character
from halogen_simulator.faults.fault import Fault
from halogen_simulator.script import parse
from tests.faults.scene import SLOW, Kept, equal, kept, leave, used
from tests.world import FOG, running


async def long_names(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        names = ["n" * 4000, "ä", "../../x", ""]
        return [(await talk.ask(FOG, keep=name)).status for name in names]


async def kept_again(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        await kept(talk, "a")
        foam = await kept(talk, "a", FOG.user("And foam?"))
        answer = await talk.ask(foam.then("Why?"), start="a")
        return answer.outcomes, await talk.names()


async def kept_at_once(fault: Fault | None, folder: Path) -> object:
    histories = [FOG, FOG.user("And a much longer question about foam?")]
    async with running(fault, SLOW) as talk:
        both = await asyncio.gather(*(kept(talk, "a", history) for history in histories))
        good = [fog for fog in both if await used(talk, fog)]
        assert len(good) == 1
        history = good[0].then("Why?")
        return await equal(talk, await talk.ask(history, start="a"), history)


async def broken_off(fault: Fault | None, folder: Path) -> object:
    script = parse([{"when": {"text": "fail"}, "fail_after": 2}])
    async with running(fault, Character(script=script)) as talk:
        fog = await kept(talk, "a")
        failed = await talk.ask(fog.then("fail"), start="a", keep="a")
        return failed.status, await used(talk, fog)


async def refused(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        bad = await talk.post("/v1/chat/completions", {"model": "m", "messages": 3}, keep="a")
        return bad.status, await used(talk, fog)


async def abandoned(fault: Fault | None, folder: Path) -> object:
    async with running(fault, SLOW) as talk:
        fog = await kept(talk, "a")
        await leave(talk, b'{"model":"m","messages":[{"role":"user","content":"?"}]}', "a")
        return await used(talk, fog)


async def joined(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        fork = Kept(fog.then("Why?"), await talk.ask(fog.then("Why?"), start="a", keep="b"))
        return await used(talk, fog), await used(talk, fork, "b"), await talk.names()


async def moved_forward(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        later = Kept(fog.then("Why?"), await talk.ask(fog.then("Why?"), start="a", keep="a"))
        again = await talk.ask(later.then("How?"), start="a")
        return again.outcome, again.cost <= 16, await talk.names()


async def kept_beside_a_miss(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = Kept(FOG, await talk.ask(FOG, start="none", keep="a"))
        foam = Kept(FOG.user("Foam?"), await talk.ask(FOG.user("Foam?"), start="a", keep="b"))
        return await used(talk, fog), await used(talk, foam, "b")


async def branch_kept(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        text = (await kept(talk, "a")).answer.reply.text
        answer = await talk.ask(FOG.branch(text[:20]), start="a", keep="b")
        whole = FOG.assistant(text[:20] + answer.reply.text).user("Why?")
        return (await talk.ask(whole, start="b")).outcome
