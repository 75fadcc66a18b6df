"""Scenes of the clock, the cap, the list and the restart; see ``scene``."""

import asyncio
import shutil
from pathlib import Path

from halogen_simulator.engine import Character
from halogen_simulator.faults.fault import Fault
from halogen_simulator.script import parse
from tests.faults.scene import SLOW, equal, kept, used
from tests.world import FOG, running


async def unused(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        talk.advance(601)
        return await talk.names(), (await talk.ask(fog.then("Why?"), start="a")).outcome


async def used_in_time(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        seen = []
        for _ in range(3):
            talk.advance(400)
            seen.append(await used(talk, fog))
        return seen


async def used_for_long(fault: Fault | None, folder: Path) -> object:
    script = parse([{"when": {"text": "slowly"}, "delay_s": 0.05}])
    async with running(fault, Character(script=script)) as talk:
        fog = await kept(talk, "a")
        slow = asyncio.ensure_future(talk.ask(fog.then("slowly"), start="a"))
        while not talk.simulator.engine.pool().running:
            await asyncio.sleep(0)
        talk.advance(700)
        during = await talk.names()
        await slow
        talk.advance(500)
        return during, await talk.names()


async def listed(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        await kept(talk, "a")
        seen = []
        for _ in range(3):
            talk.advance(250)
            seen.append(await talk.names())
        return seen


async def crowded(fault: Fault | None, folder: Path) -> object:
    async with running(fault, settings={"HALOGEN_FORK_HANDLES": "3"}) as talk:
        made = [await kept(talk, f"n{at}", FOG.user(f"{at}?")) for at in range(5)]
        names = await talk.names()
        assert isinstance(names, list)
        good = [f"n{at}" for at, one in enumerate(made) if await used(talk, one, f"n{at}")]
        return [one.answer.status for one in made], names, good


async def kept_again_when_full(fault: Fault | None, folder: Path) -> object:
    async with running(fault, settings={"HALOGEN_FORK_HANDLES": "2"}) as talk:
        for name in ("a", "b", "b"):
            await kept(talk, name)
        return await talk.names()


async def released_in_use(fault: Fault | None, folder: Path) -> object:
    async with running(fault, SLOW, settings={"HALOGEN_FORK_HANDLES": "1"}) as talk:
        fog = await kept(talk, "a")
        slow = asyncio.ensure_future(talk.ask(fog.then("Tell me all."), start="a"))
        while not talk.simulator.engine.pool().running:
            await asyncio.sleep(0)
        await talk.ask(FOG, keep="b", max_tokens=1)
        answer = await slow
        return answer.status, await talk.names()


async def restarted(fault: Fault | None, folder: Path) -> object:
    cache = {"HALOGEN_CACHE_DIR": str(folder / "cache")}
    async with running(fault, settings=cache) as talk:
        fog, foam = await kept(talk, "a"), await kept(talk, "b", FOG.user("And foam?"))
    async with running(fault, settings=cache) as talk:
        seen = [await talk.names()]
        for name, one in (("a", fog), ("b", foam)):
            answer = await talk.ask(one.then("Why?"), start=name)
            same = await equal(talk, answer, one.then("Why?"))
            seen.append((answer.outcome, answer.cost <= 16, same))  # type: ignore[arg-type]
        return seen


async def restarted_without_folder(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "folderless")
    async with running(fault) as talk:
        answer = await talk.ask(fog.then("Why?"), start="folderless")
        names = await talk.names()
        for name in names if isinstance(names, list) else []:
            talk.simulator.server.sessions.table.release(name)
        return names, answer.outcome


async def damaged(fault: Fault | None, folder: Path) -> object:
    cache = {"HALOGEN_CACHE_DIR": str(folder / "cache")}
    async with running(fault, settings=cache) as talk:
        fog = await kept(talk, "a")
    (file,) = (folder / "cache").glob("*.kept")
    content = bytearray(file.read_bytes())
    content[-40] ^= 1
    file.write_bytes(content)
    async with running(fault, settings=cache) as talk:
        return await talk.names(), (await talk.ask(fog.then("Why?"), start="a")).outcome


async def another_model(fault: Fault | None, folder: Path) -> object:
    cache = {"HALOGEN_CACHE_DIR": str(folder / "cache")}
    async with running(fault, settings=cache) as talk:
        fog = await kept(talk, "a")
    async with running(fault, Character(seed=1), cache) as talk:
        return (await talk.ask(fog.then("Why?"), start="a")).outcome


async def killed(fault: Fault | None, folder: Path) -> object:
    """A kill leaves the files of one moment, here the moment after a reply."""
    async with running(fault, settings={"HALOGEN_CACHE_DIR": str(folder / "cache")}) as talk:
        fog = await kept(talk, "a")
        # What is not whole yet is dropped at the start in any case, and may vanish meanwhile.
        unfinished = shutil.ignore_patterns("*.part")
        shutil.copytree(folder / "cache", folder / "left", ignore=unfinished)
    async with running(fault, settings={"HALOGEN_CACHE_DIR": str(folder / "left")}) as talk:
        names = await talk.names()
        whole = await used(talk, fog)
        return [] if whole or not isinstance(names, list) else names


async def down_for_long(fault: Fault | None, folder: Path) -> object:
    cache = {"HALOGEN_CACHE_DIR": str(folder / "cache"), "HALOGEN_FORK_TTL_S": "3"}
    async with running(fault, settings=cache) as talk:
        # As if it had been kept a while ago.
        talk.simulator.clock.ahead_s = -100
        fog = await kept(talk, "a")
    async with running(fault, settings=cache) as talk:
        return (await talk.ask(fog.then("Why?"), start="a")).outcome


async def path_like_names(fault: Fault | None, folder: Path) -> object:
    (folder / "in").mkdir()
    async with running(fault, settings={"HALOGEN_CACHE_DIR": str(folder / "in" / "cache")}) as talk:
        await kept(talk, "../../escaped")
    return sorted(path.name for path in folder.iterdir())
