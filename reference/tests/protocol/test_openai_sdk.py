"""The official openai SDK, unmodified, against a real server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionMessageParam

from tests.protocol.conftest import StartServer
from tests.protocol.server import Server

Namer = Callable[[str], str]
Messages = list[ChatCompletionMessageParam]
FOG: Messages = [{"role": "user", "content": "What is fog?"}]
SETTINGS: dict[str, Any] = {
    "api_key": "any",
    "max_retries": 0,
    "timeout": 60,
    "_strict_response_validation": True,
}


@pytest.fixture
def sdk(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", **SETTINGS) as client:
        yield client


@pytest.fixture
async def async_sdk(server: Server) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{server.url}/v1", **SETTINGS) as client:
        yield client


def short(**more: Any) -> dict[str, Any]:
    return {"model": "any", "temperature": 0, "max_tokens": 8, **more}


def test_keep_fork_and_branch(sdk: OpenAI, name: Namer) -> None:
    """The protocol by extra headers alone; the outcome is read from the raw response."""
    kept = sdk.chat.completions.with_raw_response.create(
        messages=FOG, extra_headers={"X-Halogen-Keep": name("plan")}, **short()
    )
    assert kept.headers["x-halogen-keep"] == "accepted"
    reply = kept.parse().choices[0].message.content
    assert reply
    start = {"X-Halogen-From": name("plan")}

    on: Messages = [
        *FOG,
        {"role": "assistant", "content": reply},
        {"role": "user", "content": "Why?"},
    ]
    fork = sdk.chat.completions.with_raw_response.create(
        messages=on, extra_headers=start, **short()
    )
    assert fork.headers["x-halogen-from"] == "used"
    plain = sdk.chat.completions.create(messages=on, **short())
    answer = fork.parse()
    assert answer.choices[0].message.content == plain.choices[0].message.content
    assert answer.usage and answer.usage.prompt_tokens_details and plain.usage
    assert answer.usage.prompt_tokens == plain.usage.prompt_tokens
    assert answer.usage.prompt_tokens_details.cached_tokens

    partial: Messages = [*FOG, {"role": "assistant", "content": reply[:10]}]
    branch = sdk.chat.completions.with_raw_response.create(
        messages=partial,
        extra_headers=start,
        extra_body={"continue_final_message": True, "add_generation_prompt": False},
        **short(),
    )
    assert branch.headers["x-halogen-from"] == "used"
    assert branch.parse().choices[0].message.content


def test_streams(sdk: OpenAI, name: Namer) -> None:
    whole = sdk.chat.completions.create(messages=FOG, **short())
    choices: tuple[dict[str, Any], ...] = ({}, {"stream_options": {"include_usage": True}})
    for options in choices:
        chunks = list(sdk.chat.completions.create(messages=FOG, stream=True, **options, **short()))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert text == whole.choices[0].message.content
        assert (chunks[-1].usage is not None) == bool(options)
        assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[-1].usage == whole.usage

    stopped = short(max_tokens=64)
    question: Messages = [{"role": "user", "content": "Hi"}]
    plain = sdk.chat.completions.create(messages=question, **stopped)
    if plain.choices[0].finish_reason == "stop":  # the helper raises on "length"
        with sdk.chat.completions.stream(messages=question, **stopped) as helper:
            kinds = [event.type for event in helper]
            final = helper.get_final_completion()
        assert final.choices[0].message.content == plain.choices[0].message.content
        assert "content.delta" in kinds and "content.done" in kinds
    else:
        with (
            pytest.raises(openai.LengthFinishReasonError),
            sdk.chat.completions.stream(messages=question, **stopped) as helper,
        ):
            helper.get_final_completion()


async def test_async_and_many(async_sdk: AsyncOpenAI) -> None:
    create = async_sdk.chat.completions.create
    one = await create(messages=FOG, **short())
    many = await asyncio.gather(*(create(messages=FOG, **short()) for _ in range(6)))
    assert {answer.choices[0].message.content for answer in many} == {
        one.choices[0].message.content
    }
    stream = await create(messages=FOG, stream=True, **short())
    text = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert "".join(text) == one.choices[0].message.content


def test_several_choices(sdk: OpenAI) -> None:
    same = sdk.chat.completions.create(messages=FOG, n=3, **short())
    assert [choice.index for choice in same.choices] == [0, 1, 2]
    assert len({choice.message.content for choice in same.choices}) == 1
    assert same.usage and same.usage.completion_tokens == 24
    hot = short(temperature=1.5, seed=3)
    first, second = (
        [
            choice.message.content
            for choice in sdk.chat.completions.create(messages=FOG, n=3, **hot).choices
        ]
        for _ in range(2)
    )
    assert first == second and len(set(first)) > 1
    chunks = sdk.chat.completions.create(messages=FOG, n=3, stream=True, **hot)
    texts = ["", "", ""]
    for chunk in chunks:
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
    assert texts == first


def test_stop_strings(sdk: OpenAI) -> None:
    free = sdk.chat.completions.create(messages=FOG, **short()).choices[0].message.content
    assert free
    stop = free[6:9]
    answer = sdk.chat.completions.create(messages=FOG, stop=["#never#", stop], **short())
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].message.content == free[: free.index(stop)]


def test_logprobs(sdk: OpenAI) -> None:
    answer = sdk.chat.completions.create(messages=FOG, logprobs=True, top_logprobs=2, **short())
    choice = answer.choices[0]
    assert choice.logprobs and choice.logprobs.content and choice.message.content
    tokens = choice.logprobs.content
    assert "".join(token.token for token in tokens) == choice.message.content
    for token in tokens:
        assert token.logprob <= 0 and len(token.top_logprobs) == 2
        # Greedy: what was chosen is the likeliest.
        assert token.top_logprobs[0].token == token.token
        assert token.top_logprobs[0].logprob >= token.top_logprobs[1].logprob


def test_the_budget_is_clamped(sdk: OpenAI) -> None:
    """Agent programs ask for 128,000 tokens whatever the server: the room that is left is given."""
    answer = sdk.chat.completions.create(
        messages=FOG, model="any", temperature=0, max_completion_tokens=128000, stop=[" ", "."]
    )
    assert answer.choices[0].finish_reason == "stop"


def test_refusals(sdk: OpenAI) -> None:
    long: Messages = [{"role": "user", "content": "word " * 3000}]
    with pytest.raises(openai.BadRequestError) as too_long:
        sdk.chat.completions.create(messages=long, **short())
    assert too_long.value.code == "context_length_exceeded"
    assert "prompt is too long: " in too_long.value.message
    assert " tokens > 2047 maximum" in too_long.value.message

    for kind in ("json_object", "json_schema"):
        with pytest.raises(openai.BadRequestError) as refused:
            sdk.chat.completions.create(
                messages=FOG, extra_body={"response_format": {"type": kind}}, **short()
            )
        assert refused.value.param == "response_format.type"
    with pytest.raises(openai.BadRequestError) as biased:
        sdk.chat.completions.create(messages=FOG, logit_bias={"99999999": 1}, **short())
    assert biased.value.param == "logit_bias"
    with pytest.raises(openai.NotFoundError):
        sdk.get("/nothing", cast_to=object)
    with pytest.raises(openai.NotFoundError):
        sdk.models.retrieve("no-such-model")


def test_models(sdk: OpenAI) -> None:
    models = sdk.models.list().data
    assert len(models) == 1
    assert sdk.models.retrieve(models[0].id).id == models[0].id


def test_an_unknown_model_is_a_404_when_models_are_named(start_server: StartServer) -> None:
    server = start_server(HALOGEN_MODEL_ID="one,two")
    with OpenAI(base_url=f"{server.url}/v1", **SETTINGS) as sdk:
        assert [model.id for model in sdk.models.list().data] == ["one", "two"]
        answer = sdk.chat.completions.create(messages=FOG, **short(model="two", max_tokens=1))
        assert answer.model == "two"
        with pytest.raises(openai.NotFoundError) as unknown:
            sdk.chat.completions.create(
                messages=FOG, extra_headers={"X-Halogen-Keep": "a"}, **short(model="three")
            )
        assert unknown.value.code == "model_not_found"
    assert not server.handles()


def test_a_full_queue_is_a_503_and_keeps_nothing(start_server: StartServer) -> None:
    server = start_server(HALOGEN_KV_SLOTS="1", HALOGEN_QUEUE_TIMEOUT="0.2")
    counting: Messages = [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": "1, 2, 3, 4, 5, 6, 7, 8,"},
    ]
    with OpenAI(base_url=f"{server.url}/v1", **SETTINGS) as sdk:
        busy = sdk.chat.completions.create(
            messages=counting,
            stream=True,
            extra_body={"continue_final_message": True},
            **short(max_tokens=1500),
        )
        next(iter(busy))
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as refused:
                sdk.chat.completions.create(
                    messages=FOG, stream=stream, extra_headers={"X-Halogen-Keep": "a"}, **short()
                )
            assert refused.value.status_code == 503 and refused.value.code == "overloaded"
            assert refused.value.response.headers["retry-after"]
        busy.close()
        assert not server.handles()
        server.idle()
        assert sdk.chat.completions.create(messages=FOG, **short(max_tokens=1)).choices
