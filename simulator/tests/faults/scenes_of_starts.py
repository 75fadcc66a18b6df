"""Scenes of starting from a name, and inside a reply; see ``scene``."""

import asyncio
from pathlib import Path
from typing import Any

from halogen_conformance.drivers.conversation import (
    Assistant,
    Call,
    Conversation,
    System,
    User,
)
from halogen_conformance.drivers.spelling import PLAIN, Spelling
from halogen_simulator.faults.fault import Fault
from tests.faults.scene import LOOK, SLACK, SLOW, Kept, equal, kept, used
from tests.world import FOG, running


async def goes_on(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        history = fog.then("Why?")
        answer = await talk.ask(history, start="a")
        names = await talk.names()
        new = 12 + SLACK
        return answer.outcomes, 0 <= answer.cost <= new, await equal(talk, answer, history), names


async def hot(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        seen = []
        for seed in range(3):
            fog = await kept(talk, "a", temperature=1.5, seed=seed)
            seen.append((await talk.ask(fog.then("Why?"), start="a")).outcome)
        return seen


async def off(fault: Fault | None, folder: Path) -> object:
    settings = {"HALOGEN_FORK": "0", "HALOGEN_FORK_MAP": "claude-code"}
    thread = {"x-claude-code-session-id": "s"}
    async with running(fault, settings=settings) as talk:
        await kept(talk, "a")
        explicit = await talk.ask(FOG, start="a")
        await talk.ask(FOG, route="messages", headers=thread)
        mapped = await talk.ask(FOG, route="messages", headers=thread)
        return explicit.outcomes, mapped.outcomes, await talk.names()


async def plain(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        return (await talk.ask(FOG)).outcomes


async def streamed(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        await talk.ask(FOG, keep="a", stream=True)
        fog = Kept(FOG, await talk.ask(FOG))
        return (await talk.ask(fog.then("Why?"), start="a", stream=True)).outcomes


async def misses(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        unknown = await talk.ask(fog.then("Why?"), start="b")
        unmatched = await talk.ask(FOG.user("Another."), start="a")
        return unknown.outcomes, unmatched.outcomes


async def on_responses(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a", route="responses")
        return (await talk.ask(fog.then("Why?"), start="a", route="responses")).outcomes


async def forked_in_turn(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        seen = []
        for text in ("Why?", "How?", "When?"):
            answer = await talk.ask(fog.then(text), start="a")
            seen.append((answer.outcome, await equal(talk, answer, fog.then(text))))
        return seen


async def forked_at_once(fault: Fault | None, folder: Path) -> object:
    async with running(fault, SLOW) as talk:
        fog = await kept(talk, "a")
        histories = [fog.then(text) for text in ("Why?", "How?", "When?", "Who?")]
        answers = await asyncio.gather(*(talk.ask(one, start="a") for one in histories))
        return [
            (answer.outcome, await equal(talk, answer, history))
            for answer, history in zip(answers, histories, strict=True)
        ]


async def across_routes(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        return (await talk.ask(fog.then("Why?"), start="a", route="messages")).outcome


def _edited(fog: Kept) -> dict[str, Conversation]:
    right = fog.then("Why?")
    return {
        "system": right.swap(0, System("Be long.")),
        "tools": right.with_tools(LOOK),
        "message": right.swap(1, User("What is foam?")),
        "reply": right.swap(2, Assistant(fog.answer.reply.text[:-2])),
        "shorter": fog.history,
        "gone": Conversation(right.turns[1:]),
        "another": FOG.swap(1, User("Hello")).assistant("Hi.").user("Why?"),
    }


async def other_histories(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        fog = await kept(talk, "a")
        seen: dict[str, object] = {}
        for what, history in _edited(fog).items():
            answer = await talk.ask(history, start="a")
            seen[what] = answer.outcome, await equal(talk, answer, history)
        return seen, await used(talk, fog)


async def spelled(fault: Fault | None, folder: Path) -> object:
    ways = [PLAIN, Spelling(text="parts"), Spelling(cache_control="all")]
    async with running(fault) as talk:
        fog = await kept(talk, "a", route="messages")
        history = fog.then("Why?")
        return [
            (await talk.ask(history, start="a", route="messages", spelling=way)).outcome
            for way in ways
        ]


async def used_a_tool(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        history = FOG.user("Now use a tool.").with_tools(LOOK)
        called = await kept(talk, "a", history)
        (call,) = called.answer.reply.calls
        seen = []
        for arguments in ("given", "reversed"):
            after = history.plus(called.answer.reply.turn()).result(call.id, "A wall.")
            spelling = Spelling(arguments=arguments)
            answer = await talk.ask(after, start="a", spelling=spelling)
            seen.append((answer.outcome, await equal(talk, answer, after, spelling=spelling)))
        changed = Assistant("", (Call(call.id, call.name, '{"at":"x"}'),))
        after = history.plus(changed).result(call.id, "A wall.")
        return seen, (await talk.ask(after, start="a")).outcome


async def ended(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        words = (await talk.ask(FOG)).reply.text.split()
        seen = []
        ways: dict[str, dict[str, Any]] = {
            "stop": {"stop": (words[4],)},
            "limit": {"max_tokens": 7},
        }
        for name, how in ways.items():
            fog = await kept(talk, name, FOG, **how)
            history = fog.then("Why?")
            answer = await talk.ask(history, start=name)
            seen.append((answer.outcome, await equal(talk, answer, history)))
        return seen


async def branched(fault: Fault | None, folder: Path) -> object:
    seen = []
    async with running(fault) as talk:
        for route in ("chat", "messages", "responses"):
            fog = await kept(talk, route, route=route)
            whole = fog.answer.reply.text
            for at in (len(whole) // 3, len(whole) // 2):
                history = FOG.branch(whole[:at])
                answer = await talk.ask(history, start=route, route=route)
                seen.append((answer.outcome, whole[:at] + answer.reply.text == whole))
    return seen


async def branched_elsewhere(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        await kept(talk, "a")
        history = FOG.branch("Fog is a thing of which I know nothing at")
        answer = await talk.ask(history, start="a")
        return answer.outcome, await equal(talk, answer, history)
