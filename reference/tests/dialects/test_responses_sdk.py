"""The official openai SDK, unmodified, against the Responses dialect."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

from halogen_reference.errors import overloaded, prompt_too_long
from halogen_reference.reply import Finish
from tests.dialects.loopback import Loopback
from tests.dialects.samples import Calling, Think, run, with_logprobs


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


def tool() -> Any:
    return {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


def test_a_whole_answer(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(run(Think("hm"), "Hello ", "you."))
    answer = client.responses.create(model="m", input="hello", instructions="be kind")
    assert answer.output_text == "Hello you."
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert (answer.model, answer.status, answer.instructions) == ("m", "completed", "be kind")
    assert answer.usage
    assert answer.usage.input_tokens_details.cached_tokens == 5
    assert answer.usage.output_tokens_details.reasoning_tokens == 2
    assert answer.usage.total_tokens == 19


def test_a_stream(client: OpenAI, loopback: Loopback) -> None:
    """Signs of life between all its events, each numbered like them."""
    loopback.script(run(Think("h"), Think("m"), "Hel", "", "lo"))
    kinds = []
    numbers = []
    with client.responses.stream(model="m", input="hello") as stream:
        for event in stream:
            kinds.append(event.type)
            numbers.append(event.sequence_number)
        final = stream.get_final_response()
    assert final.output_text == "Hello"
    assert final.id.startswith("resp_")
    assert numbers == list(range(len(numbers)))
    assert kinds.count("response.in_progress") > 1
    assert [kind for kind in kinds if kind != "response.in_progress"] == [
        "response.created",
        "response.output_item.added",
        "response.content_part.added",
        "response.reasoning_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_tool_calls_in_a_stream(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(
        run(
            Calling("one", "look", ('{"at"', ': "sea"}')),
            Calling("two", "look", ("{}",)),
            finish=Finish.TOOL_CALLS,
        )
    )
    with client.responses.stream(model="m", input="hello", tools=[tool()]) as stream:
        final = stream.get_final_response()
    calls = [item for item in final.output if item.type == "function_call"]
    assert [(call.id, call.call_id, call.name, call.arguments) for call in calls] == [
        ("fc_one", "call_one", "look", '{"at": "sea"}'),
        ("fc_two", "call_two", "look", "{}"),
    ]


def test_a_call_into_a_namespace(client: OpenAI, loopback: Loopback) -> None:
    """Codex does not find a call whose namespace is missing or part of its name."""
    namespace: Any = {"type": "namespace", "name": "agents", "description": "", "tools": [tool()]}
    loopback.script(run(Calling("one", "agents__look", ("{}",)), finish=Finish.TOOL_CALLS))
    answer = client.responses.create(model="m", input="hello", tools=[namespace])
    call = answer.output[0]
    assert isinstance(call, ResponseFunctionToolCall)
    assert (call.name, call.namespace) == ("look", "agents")
    assert loopback.seen is not None
    assert [offered.name for offered in loopback.seen.call.conversation.tools] == ["agents__look"]


def test_a_reply_can_be_sent_back_as_it_is(client: OpenAI, loopback: Loopback) -> None:
    """FROM-11: what the SDK hands out goes in again as the same turn."""
    loopback.script(
        run(
            Think("hm"),
            "I look.",
            Calling("one", "look", ('{"b": 1, "a": [2.0]}',)),
            finish=Finish.TOOL_CALLS,
        )
    )
    answer = client.responses.create(model="m", input="hello", tools=[tool()])
    sent: Any = [
        {"role": "user", "content": "hello"},
        *[item.model_dump() for item in answer.output],
        {"type": "function_call_output", "call_id": "call_one", "output": "sea"},
    ]
    loopback.script(run("It is blue."))
    client.responses.create(model="m", input=sent, tools=[tool()])
    assert loopback.seen is not None
    turn, result = loopback.seen.call.conversation.items[1:]
    assert str(turn) == (
        "Assistant(text='I look.', reasoning='hm', "
        "calls=(ToolCall(id='one', name='look', arguments='{\"a\":[2],\"b\":1}'),))"
    )
    assert str(result) == "ToolResult(call_id='one', text='sea', is_error=False)"


def test_an_empty_reply_can_be_sent_back(client: OpenAI, loopback: Loopback) -> None:
    """KEEP-2."""
    loopback.script(run())
    with client.responses.stream(model="m", input="hello") as stream:
        final = stream.get_final_response()
    sent: Any = [
        {"role": "user", "content": "hello"},
        *[item.model_dump() for item in final.output],
        {"role": "user", "content": "well?"},
    ]
    client.responses.create(model="m", input=sent)
    assert loopback.seen is not None
    assert [str(item) for item in loopback.seen.call.conversation.items] == [
        "User(text='hello')",
        "Assistant(text='', reasoning=None, calls=())",
        "User(text='well?')",
    ]


def test_logprobs_both_ways(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(run(with_logprobs("ab", "a", "b"), with_logprobs("c", "c")))
    asked: Any = {
        "model": "m",
        "input": "hello",
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 2,
    }
    whole = client.responses.create(**asked)
    with client.responses.stream(**asked) as stream:
        streamed = stream.get_final_response()
    for answer in (whole, streamed):
        message = answer.output[0]
        assert isinstance(message, ResponseOutputMessage)
        content = message.content[0]
        assert content.type == "output_text" and content.logprobs
        assert [token.token for token in content.logprobs] == ["a", "b", "c"]
        assert content.logprobs[0].top_logprobs[1].logprob == -9999


def test_the_token_limit(client: OpenAI, loopback: Loopback) -> None:
    loopback.script(run("Hel", finish=Finish.LENGTH))
    answer = client.responses.create(model="m", input="hello", max_output_tokens=3)
    assert answer.status == "incomplete" and answer.incomplete_details
    assert answer.incomplete_details.reason == "max_output_tokens"
    assert answer.max_output_tokens == 3
    events = list(client.responses.create(model="m", input="hello", stream=True))
    assert events[-1].type == "response.incomplete"


def test_a_failure_inside_a_stream(client: OpenAI, loopback: Loopback) -> None:
    """P19: one terminal event that says so."""
    loopback.script(run("Hel")[:-1], failure="the engine stopped")
    events = list(client.responses.create(model="m", input="hello", stream=True))
    last = events[-1]
    assert last.type == "response.failed" and last.response.error
    assert last.response.error.message == "the engine stopped"
    assert last.response.status == "failed"


def test_a_failure_before_the_first_event(client: OpenAI, loopback: Loopback) -> None:
    """The helper insists that a stream opens with response.created."""
    loopback.script([], failure="the engine stopped")
    with client.responses.stream(model="m", input="hello") as stream:
        kinds = [event.type for event in stream]
    assert kinds == ["response.created", "response.in_progress", "response.failed"]


def test_refusals(client: OpenAI, loopback: Loopback) -> None:
    loopback.refusal = prompt_too_long(9, 8)
    with pytest.raises(openai.BadRequestError) as long:
        client.responses.create(model="m", input="hello")
    assert long.value.code == "context_length_exceeded"
    loopback.refusal = overloaded("busy")
    with pytest.raises(openai.InternalServerError) as busy:
        client.responses.create(model="m", input="hello")
    assert busy.value.status_code == 503


async def test_the_async_client(async_client: AsyncOpenAI, loopback: Loopback) -> None:
    loopback.script(run("Hello ", "you."))
    answer = await async_client.responses.create(model="m", input="hello")
    assert answer.output_text == "Hello you."
    async with async_client.responses.stream(model="m", input="hello") as stream:
        final = await stream.get_final_response()
    assert final.output_text == "Hello you."
