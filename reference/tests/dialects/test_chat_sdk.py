"""The official openai SDK, unmodified, against the Chat Completions dialect."""

from collections.abc import AsyncIterator, Iterator

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletionMessageParam

from halogen_reference.errors import RequestError, invalid, overloaded, prompt_too_long
from halogen_reference.reply import Finish
from tests.dialects.loopback import Loopback
from tests.dialects.samples import Calling, Think, run, with_logprobs

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]


@pytest.fixture
def client(loopback: Loopback) -> Iterator[OpenAI]:
    with OpenAI(
        base_url=f"{loopback.url}/v1",
        api_key="k",
        max_retries=0,
        timeout=20,
        _strict_response_validation=True,
    ) as sdk:
        yield sdk


@pytest.fixture
async def async_client(loopback: Loopback) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        base_url=f"{loopback.url}/v1",
        api_key="k",
        max_retries=0,
        timeout=20,
        _strict_response_validation=True,
    ) as sdk:
        yield sdk


def test_a_whole_answer(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(run(Think("hm"), "Hello ", "you."))
    answer = client.chat.completions.create(model="m", messages=HELLO)
    choice = answer.choices[0]
    assert answer.model == "m" and answer.id.startswith("chatcmpl-")
    assert choice.message.content == "Hello you." and choice.finish_reason == "stop"
    assert choice.message.model_extra == {"reasoning_content": "hm"}
    assert answer.usage and answer.usage.prompt_tokens_details
    assert (answer.usage.prompt_tokens, answer.usage.prompt_tokens_details.cached_tokens) == (12, 5)
    assert (answer.usage.completion_tokens, answer.usage.total_tokens) == (7, 19)


def test_a_stream(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(run("Hel", "", "lo"))
    with client.chat.completions.stream(
        model="m", messages=HELLO, stream_options={"include_usage": True}
    ) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.content == "Hello"
    assert final.usage and final.usage.completion_tokens == 7


def test_two_choices_in_one_stream(client: OpenAI, loopback: Loopback) -> None:
    """The server's loop feeds choice 1 first; the SDK must still meet choice 0 first."""
    loopback.script(run("a", "b"), run("x", "y", "z"))
    with client.chat.completions.stream(
        model="m", messages=HELLO, n=2, stream_options={"include_usage": True}
    ) as stream:
        final = stream.get_final_completion()
    assert [choice.message.content for choice in final.choices] == ["ab", "xyz"]
    assert final.usage and (final.usage.prompt_tokens, final.usage.completion_tokens) == (12, 14)


def test_tool_calls_in_a_stream(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(
        run(
            Calling("one", "look", ('{"at"', ': "sea"}')),
            Calling("two", "stop", ("{}",)),
            finish=Finish.TOOL_CALLS,
        )
    )
    with client.chat.completions.stream(
        model="m",
        messages=HELLO,
        tools=[{"type": "function", "function": {"name": "look", "parameters": {}}}],
    ) as stream:
        final = stream.get_final_completion()
    calls = final.choices[0].message.tool_calls
    assert calls and final.choices[0].finish_reason == "tool_calls"
    found = [(call.id, call.function.name, call.function.arguments) for call in calls]
    assert found == [("call_one", "look", '{"at": "sea"}'), ("call_two", "stop", "{}")]


def test_logprobs_both_ways(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(run(with_logprobs("ab", "a", "b"), with_logprobs("c", "c")))
    whole = client.chat.completions.create(
        model="m", messages=HELLO, logprobs=True, top_logprobs=2
    ).choices[0]
    with client.chat.completions.stream(
        model="m", messages=HELLO, logprobs=True, top_logprobs=2
    ) as stream:
        streamed = stream.get_final_completion().choices[0]
    assert whole.logprobs and whole.logprobs.content
    assert [token.token for token in whole.logprobs.content] == ["a", "b", "c"]
    assert whole.logprobs.content[0].bytes == [97]
    assert whole.logprobs.content[0].top_logprobs[1].logprob == -9999
    assert streamed.logprobs and streamed.logprobs.content == whole.logprobs.content


def test_an_error_inside_a_stream(client: OpenAI, loopback: Loopback) -> None:
    """P19: never an empty success."""
    loopback.script(run("Hel")[:-1], failure="the engine stopped")
    stream = client.chat.completions.create(model="m", messages=HELLO, stream=True)
    with pytest.raises(openai.APIError, match="the engine stopped"):
        list(stream)


@pytest.mark.parametrize(
    ("refusal", "expected", "code"),
    [
        (invalid("no", "messages"), openai.BadRequestError, None),
        (prompt_too_long(9, 8), openai.BadRequestError, "context_length_exceeded"),
        (overloaded("busy"), openai.InternalServerError, "overloaded"),
    ],
)
def test_refusals(
    client: OpenAI,
    loopback: Loopback,
    refusal: RequestError,
    expected: type[openai.APIStatusError],
    code: str | None,
) -> None:
    loopback.refusal = refusal
    with pytest.raises(expected) as caught:
        client.chat.completions.create(model="m", messages=HELLO)
    assert caught.value.code == code


async def test_the_async_client(async_client: AsyncOpenAI, loopback: Loopback) -> None:
    loopback.script(run("Hello ", "you."))
    answer = await async_client.chat.completions.create(model="m", messages=HELLO)
    assert answer.choices[0].message.content == "Hello you."
    async with async_client.chat.completions.stream(model="m", messages=HELLO) as stream:
        final = await stream.get_final_completion()
    assert final.choices[0].message.content == "Hello you."
