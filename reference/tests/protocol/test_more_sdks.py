"""The official SDKs' other clients on real servers: async ones, helpers for streams, Messages and
Responses. What they read is compared with the same request without a name (FROM-6)."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal

import anthropic
import openai
import pytest

from tests.protocol.server import Server

Namer = Callable[[str], str]
CLIENT: dict[str, Any] = {"api_key": "any", "max_retries": 0, "timeout": 60}
QUESTION = {"role": "user", "content": "What is fog?"}
SHORT: dict[str, Any] = {"model": "m", "temperature": 0}
# This SDK has no argument of that name any more.
MESSAGES: dict[str, Any] = {"model": "m", "max_tokens": 8, "extra_body": {"temperature": 0}}


@pytest.fixture
def claude(server: Server) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, **CLIENT) as sdk:
        yield sdk


@pytest.fixture
async def async_claude(server: Server) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(base_url=server.url, **CLIENT) as sdk:
        yield sdk


@pytest.fixture
def gpt(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", **CLIENT) as sdk:
        yield sdk


@pytest.fixture
async def async_gpt(server: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", **CLIENT) as sdk:
        yield sdk


def keep(name: str) -> dict[str, str]:
    return {"X-Halogen-Keep": name}


def start(name: str) -> dict[str, str]:
    return {"X-Halogen-From": name}


def on(reply: str, question: str) -> list[Any]:
    """The conversation with its reply, and one more question."""
    said = {"role": "assistant", "content": reply}
    return [QUESTION, said, {"role": "user", "content": question}]


def test_messages_keep_fork_and_branch(claude: anthropic.Anthropic, name: Namer) -> None:
    plan, asked = name("plan"), MESSAGES
    first: list[Any] = [QUESTION]
    kept = claude.messages.with_raw_response.create(
        messages=first, extra_headers=keep(plan), **asked
    )
    assert kept.headers["x-halogen-keep"] == "accepted"
    reply = kept.parse()
    assert reply.content[0].type == "text"
    text = reply.content[0].text

    with claude.messages.stream(
        messages=on(text, "Why?"), extra_headers=start(plan), **asked
    ) as stream:
        assert stream.response.headers["x-halogen-from"] == "used"
        fork = stream.get_final_message()
    twin = claude.messages.create(messages=on(text, "Why?"), **asked)
    said, expected = (
        [getattr(block, "text", block.type) for block in message.content]
        for message in (fork, twin)
    )
    assert said == expected and said and fork.stop_reason == twin.stop_reason
    assert fork.usage.cache_read_input_tokens and not twin.usage.cache_read_input_tokens
    prompt = fork.usage.input_tokens + fork.usage.cache_read_input_tokens
    counted = claude.messages.count_tokens(model="m", messages=on(text, "Why?"))
    assert prompt == twin.usage.input_tokens == counted.input_tokens

    begun: list[Any] = [QUESTION, {"role": "assistant", "content": text[:10]}]
    branch = claude.messages.with_raw_response.create(
        messages=begun, extra_headers=start(plan), **asked
    )
    assert branch.headers["x-halogen-from"] == "used"
    assert branch.parse().content


async def test_messages_many_at_once(async_claude: anthropic.AsyncAnthropic, name: Namer) -> None:
    """Forks of one name, each streamed by an async client (FROM-3)."""
    plan, asked = name("plan"), MESSAGES
    first: list[Any] = [QUESTION]
    kept = await async_claude.messages.create(messages=first, extra_headers=keep(plan), **asked)
    assert kept.content[0].type == "text"
    text = kept.content[0].text

    async def fork(question: str) -> tuple[str, str]:
        async with async_claude.messages.stream(
            messages=on(text, question), extra_headers=start(plan), **asked
        ) as stream:
            pieces = [piece async for piece in stream.text_stream]
            return stream.response.headers["x-halogen-from"], "".join(pieces)

    questions = ["Why?", "When?", "Where?", "Why?"]
    forks = await asyncio.gather(*map(fork, questions))
    assert [outcome for outcome, _ in forks] == ["used"] * 4
    assert forks[0] == forks[3] and all(said for _, said in forks)


def test_responses_by_the_streaming_helper(gpt: openai.OpenAI, name: Namer) -> None:
    plan, asked = name("plan"), {**SHORT, "max_output_tokens": 16}
    first: list[Any] = [QUESTION]
    kept = gpt.responses.with_raw_response.create(input=first, extra_headers=keep(plan), **asked)
    assert kept.headers["x-halogen-keep"] == "accepted"
    text = kept.parse().output_text
    assert text

    outcomes: list[str | None] = []
    hook = {"response": [lambda got: outcomes.append(got.headers.get("x-halogen-from"))]}
    with (
        openai.DefaultHttpxClient(event_hooks=hook) as http,
        gpt.with_options(http_client=http).responses.stream(
            input=on(text, "Why?"), extra_headers=start(plan), **asked
        ) as stream,
    ):
        events = list(stream)
    # The helper's own get_final_response() takes no reply that the token limit has cut.
    end = events[-1]
    assert end.type in ("response.completed", "response.incomplete")
    fork = end.response
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert outcomes == ["used"]
    twin = gpt.responses.create(input=on(text, "Why?"), **asked)
    assert "".join(deltas) == fork.output_text == twin.output_text
    assert fork.status == twin.status and fork.usage and twin.usage
    assert fork.usage.input_tokens == twin.usage.input_tokens
    assert fork.usage.input_tokens_details.cached_tokens


async def test_responses_by_the_async_client(async_gpt: openai.AsyncOpenAI, name: Namer) -> None:
    plan, asked = name("plan"), {**SHORT, "max_output_tokens": 16}
    first: list[Any] = [QUESTION]
    kept = await async_gpt.responses.create(input=first, extra_headers=keep(plan), **asked)

    async def fork(question: str) -> tuple[str, str]:
        async with async_gpt.responses.with_streaming_response.create(
            input=on(kept.output_text, question), extra_headers=start(plan), **asked
        ) as got:
            return got.headers["x-halogen-from"], (await got.parse()).output_text

    forks = await asyncio.gather(fork("Why?"), fork("When?"), fork("Why?"))
    assert [outcome for outcome, _ in forks] == ["used"] * 3
    assert forks[0] == forks[2]


async def test_an_async_tool_loop(async_gpt: openai.AsyncOpenAI, name: Namer) -> None:
    """A tool that must be called, its result, and the answer: each step from the one before."""
    loop = name("loop")
    wind: Any = {
        "type": "function",
        "function": {
            "name": "wind",
            "parameters": {"type": "object", "properties": {"unit": {"enum": ["knots", "km/h"]}}},
        },
    }
    moved = {**start(loop), **keep(loop)}
    outcomes: list[str] = []
    messages: list[Any] = [{"role": "user", "content": "How strong is the wind?"}]
    choices: tuple[Literal["required", "none"], ...] = ("required", "none", "none")
    for choice in choices:
        got = await async_gpt.chat.completions.with_raw_response.create(
            messages=messages,
            tools=[wind],
            tool_choice=choice,
            extra_headers=moved,
            max_tokens=64 if choice == "required" else 4,
            **SHORT,
        )
        outcomes.append(got.headers["x-halogen-from"])
        message = got.parse().choices[0].message
        messages.append(message)
        if choice == "required":
            assert message.tool_calls and len(message.tool_calls) == 1
            call = message.tool_calls[0]
            assert call.type == "function" and json.loads(call.function.arguments)["unit"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "fair"})
        else:
            assert not message.tool_calls
            messages.append({"role": "user", "content": "And tomorrow?"})
    assert outcomes == ["unknown", "used", "used"]
