"""The reference's routes on the simulated model: tools, reasoning, scripts, choices."""

import asyncio
import json

import pytest

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.conversation import Tool
from halogen_conformance.drivers.reply import Finish
from halogen_simulator.engine import Character
from halogen_simulator.script import parse
from tests.world import FOG, running

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 1}},
    "required": ["path"],
}
TOOLS = (Tool("read_file", "Reads.", SCHEMA), Tool("look", "Looks.", {"type": "object"}))
ROUTES = pytest.mark.parametrize("route", sorted(DRIVERS))


@ROUTES
@pytest.mark.parametrize("choice", ["required", "look"])
async def test_a_call_that_must_be_made(route: str, choice: str) -> None:
    async with running() as talk:
        answer = await talk.ask(FOG.with_tools(*TOOLS), route=route, tool_choice=choice)
    (call,) = answer.reply.calls
    assert answer.reply.problems == () and call.name in ("read_file", "look")
    assert choice == "required" or call.name == choice
    assert isinstance(json.loads(call.arguments), dict)


@ROUTES
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("What is fog?", 0),
        ("Please use a tool.", 1),
        ("Use tools.", 2),
        ("Now call read_file", 1),
        ("Of what use is a tool?", 0),
    ],
)
async def test_a_call_that_is_asked_for(route: str, text: str, count: int) -> None:
    history = FOG.user(text).with_tools(*TOOLS)
    async with running() as talk:
        answer = await talk.ask(history, route=route)
        assert len(answer.reply.calls) == count
        if count:
            done = history.plus(answer.reply.turn())
            for call in answer.reply.calls:
                done = done.result(call.id, "Now use a tool, says the tool.")
            after = await talk.ask(done, route=route)
            assert after.reply.text and not after.reply.calls


@ROUTES
async def test_reasoning(route: str) -> None:
    async with running(character=Character(reasoning=True)) as talk:
        answer = await talk.ask(FOG, route=route, keep="a")
        assert answer.reply.reasoning and answer.reply.text and answer.reply.problems == ()
        history = FOG.plus(answer.reply.turn()).user("Why?")
        assert (await talk.ask(history, route=route, start="a")).outcome == "unmatched"


async def test_the_length_of_a_reply() -> None:
    async with running(character=Character(reply_words=5)) as talk:
        answer = await talk.ask(FOG)
    assert len(answer.reply.text.split()) == 5 and answer.reply.finish is Finish.END


async def test_seeds() -> None:
    async with running() as talk:
        said = {
            (seed, temperature): (
                await talk.ask(FOG, seed=seed, temperature=temperature)
            ).reply.text
            for seed in (1, 2)
            for temperature in (0.0, 1.0)
        }
        assert said[1, 0.0] == said[2, 0.0]
        assert len({said[1, 0.0], said[1, 1.0], said[2, 1.0]}) == 3
        several = await talk.ask(FOG, seed=1, temperature=1.0, n=3)
        texts = [several.reply.text, *(other.text for other in several.reply.others)]
    assert len(set(texts)) == 3 and texts[0] == said[1, 1.0]


async def test_a_script_leads_a_program_through_a_scenario() -> None:
    script = parse(
        [
            {"when": {"role": "tool"}, "say": "The file says hello."},
            {
                "when": {"text": "read", "headers": {"x-agent": "^one$"}},
                "say": "I will read it.",
                "reasoning": "A file.",
                "calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}],
            },
        ]
    )
    history = FOG.user("Please read a.txt.").with_tools(*TOOLS)
    async with running(character=Character(script=script)) as talk:
        agent = {"x-agent": "one"}
        first = await talk.ask(history, route="messages", headers=agent, keep="a")
        assert (first.reply.text, first.reply.reasoning) == ("I will read it.", "A file.")
        (call,) = first.reply.calls
        assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.txt"})
        done = history.plus(first.reply.turn(reasoning=True)).result(call.id, "hello")
        second = await talk.ask(done, route="messages", headers=agent, start="a")
        assert (second.outcome, second.reply.text) == ("used", "The file says hello.")
        stranger = await talk.ask(history, route="messages")
        assert stranger.reply.text != first.reply.text


@ROUTES
async def test_a_script_that_fails(route: str) -> None:
    script = parse([{"fail_after": 3}])
    async with running(character=Character(script=script)) as talk:
        whole = await talk.ask(FOG, route=route)
        assert whole.status == 500 and "the model fails here" in whole.body


async def test_a_script_that_hangs_and_waits() -> None:
    script = parse(
        [{"when": {"text": "hang"}, "hang_after": 1}, {"when": {"text": "wait"}, "delay_s": 0.05}]
    )
    async with running(character=Character(script=script)) as talk:
        hanging = asyncio.ensure_future(talk.ask(FOG.user("hang"), keep="a"))
        waiting = await talk.ask(FOG.user("wait"))
        assert waiting.reply.text and not hanging.done()
        hanging.cancel()
        await asyncio.wait([hanging])
        assert await talk.names() == []


async def test_a_script_that_is_busy() -> None:
    async with running(character=Character(script=parse([{"busy": True}]))) as talk:
        assert (await talk.ask(FOG)).status == 503
        assert (await talk.ask(FOG, route="messages")).status == 529


async def test_a_setting_the_engine_cannot_fill() -> None:
    with pytest.raises(Exception, match="does not hold one context of 4096"):
        async with running(settings={"HALOGEN_CTX": "4096", "HALOGEN_KV_POOL_POSITIONS": "100"}):
            pass


async def test_a_prompt_that_is_too_long() -> None:
    async with running(settings={"HALOGEN_CTX": "64"}) as talk:
        answer = await talk.ask(FOG.user("word " * 100))
    assert answer.status == 400 and "prompt is too long" in answer.body
