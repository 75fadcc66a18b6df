"""Scenes with API keys and with Claude Code's threads; see ``scenes``."""

from pathlib import Path

from halogen_conformance.drivers.conversation import Conversation, System
from halogen_simulator.faults.fault import Fault
from tests.faults.scene import LOOK, Kept
from tests.world import FOG, Answer, Talk, running

MAP = {"HALOGEN_FORK_MAP": "claude-code", "HALOGEN_FORK_HANDLES": "16"}
KEYS = {"HALOGEN_API_KEY": "right,other"}
CODE = FOG.with_tools(LOOK)


async def keys(fault: Fault | None, folder: Path) -> object:
    sent: list[dict[str, str]] = [
        {},
        {"x-api-key": "wrong"},
        {"x-api-key": "right"},
        {"authorization": "Bearer right"},
        {"authorization": "Bearer wrong"},
    ]
    async with running(fault, settings=KEYS) as talk:
        seen: list[object] = []
        for headers in sent:
            for route in ("chat", "messages"):
                answer = await talk.ask(FOG, route=route, headers=headers)
                shape = '"type":"error"' in answer.body.replace(" ", "")
                seen.append((answer.status, shape and answer.status != 200))
            names = await talk.names(headers)
            seen.append(names if isinstance(names, int) else "listed")
        return seen


def thread(session: str, agent: str | None = None, key: str | None = None) -> dict[str, str]:
    headers = {"x-claude-code-session-id": session}
    if agent is not None:
        headers["x-claude-code-agent-id"] = agent
    return headers if key is None else {**headers, "x-api-key": key}


async def turn(talk: Talk, history: Conversation, who: dict[str, str], **options: object) -> Kept:
    return Kept(history, await _ask(talk, history, who, **options))


async def _ask(talk: Talk, history: Conversation, who: dict[str, str], **options: object) -> Answer:
    return await talk.ask(history, route="messages", headers=who, **options)  # type: ignore[arg-type]


async def threads(fault: Fault | None, folder: Path) -> object:
    """A main conversation and a subagent of it, turn by turn."""
    main, agent = thread("s"), thread("s", "x")
    task = CODE.swap(0, System("You are an agent.")).user("Do it.")
    async with running(fault, settings=MAP) as talk:
        one = await turn(talk, CODE, main)
        two = await turn(talk, task, agent)
        seen = []
        for text in ("Why?", "How?"):
            one, two = (
                await turn(talk, one.then(text), main),
                await turn(talk, two.then(text), agent),
            )
            seen.append((one.answer.outcome, two.answer.outcome))
        return seen


async def one_agent_in_two_sessions(fault: Fault | None, folder: Path) -> object:
    async with running(fault, settings=MAP) as talk:
        one = await turn(talk, CODE, thread("s", "x"))
        two = await turn(talk, CODE.user("Another task."), thread("t", "x"))
        seen = []
        for text in ("Why?", "How?"):
            one = await turn(talk, one.then(text), thread("s", "x"))
            two = await turn(talk, two.then(text), thread("t", "x"))
            seen.append((one.answer.outcome, two.answer.outcome))
        return seen


async def forked_agent(fault: Fault | None, folder: Path) -> object:
    """A fork subagent repeats its parent up to the message before the reply that called it."""
    async with running(fault, settings=MAP) as talk:
        await turn(talk, CODE, thread("s"))
        task = CODE.assistant("").user("Your task.")
        return (await turn(talk, task, thread("s", "x"))).answer.outcome


async def side_requests(fault: Fault | None, folder: Path) -> object:
    """Title first, probe and summary between the turns."""
    title = Conversation().system("Write a title.").user("What is fog?")
    seen = []
    async with running(fault, settings=MAP) as talk:
        await turn(talk, title, thread("s"))
        one = await turn(talk, CODE, thread("s"))
        for summary in (False, True, False):
            side = one.then("Summarise.") if summary else title
            await turn(talk, side, thread("s"))
            await turn(talk, CODE.swap(1, FOG.user("quota").turns[2]), thread("s"), max_tokens=1)
            one = await turn(talk, one.then("Why?"), thread("s"))
            seen.append(one.answer.outcome)
    return seen


async def thread_names(fault: Fault | None, folder: Path) -> object:
    """The names tell nothing, and another key does not get at what they name."""
    session = "0f0e5c1c"
    async with running(fault, settings=MAP) as talk:
        one = await turn(talk, CODE, thread(session, key="right"))
        names = await talk.names()
        assert isinstance(names, list)
        other = await turn(talk, one.then("Why?"), thread(session, key="other"))
        return [session in name for name in names], other.answer.outcome


async def no_mapping(fault: Fault | None, folder: Path) -> object:
    async with running(fault) as talk:
        one = await turn(talk, CODE, thread("s"))
        two = await turn(talk, one.then("Why?"), thread("s"))
        return two.answer.outcomes, await talk.names()


async def billing_line(fault: Fault | None, folder: Path) -> object:
    """The line differs between requests of one conversation; a user may quote one, too."""

    def lined(history: Conversation, mark: str) -> Conversation:
        line = f"x-anthropic-billing-header: cc_version=2.1.{mark}; cch={mark};\nBe brief."
        return history.swap(0, System(line))

    async with running(fault, settings=MAP) as talk:
        one = await turn(talk, lined(CODE, "123"), thread("s"))
        two = await turn(talk, lined(one.then("Why?"), "456"), thread("s"))
        plain = await talk.ask(CODE, route="messages")
        with_line = await talk.ask(lined(CODE, "789"), route="messages")
        quotes = [
            await talk.ask(FOG.user(f"x-anthropic-billing-header: cch={mark};"), route="messages")
            for mark in ("1", "2")
        ]
        return (
            two.answer.outcome,
            plain.reply.same_as(with_line.reply),
            quotes[0].reply.text == quotes[1].reply.text,
        )
