"""The official anthropic SDK, unmodified, against the Messages dialect."""

from collections.abc import AsyncIterator, Iterator

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import MessageParam, ToolParam

from halogen_reference.call import Opening
from halogen_reference.dialects import messages
from halogen_reference.errors import RequestError, invalid, overloaded, prompt_too_long
from halogen_reference.reply import Finish
from tests.dialects.loopback import Loopback
from tests.dialects.samples import Calling, Think, run

HELLO: list[MessageParam] = [{"role": "user", "content": "hello"}]
LOOK: ToolParam = {"name": "look", "input_schema": {"type": "object"}}


@pytest.fixture
def client(loopback: Loopback) -> Iterator[Anthropic]:
    with Anthropic(
        base_url=loopback.url,
        api_key="k",
        max_retries=0,
        timeout=20,
        _strict_response_validation=True,
    ) as sdk:
        yield sdk


@pytest.fixture
async def async_client(loopback: Loopback) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(
        base_url=loopback.url,
        api_key="k",
        max_retries=0,
        timeout=20,
        _strict_response_validation=True,
    ) as sdk:
        yield sdk


def test_a_whole_answer(client: Anthropic, loopback: Loopback) -> None:
    loopback.script(run(Think("hm"), "Hello ", "you."))
    answer = client.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert answer.content[0].type == "thinking" and answer.content[0].thinking == "hm"
    assert answer.content[1].type == "text" and answer.content[1].text == "Hello you."
    assert (answer.model, answer.role, answer.stop_reason) == ("m", "assistant", "end_turn")
    assert answer.id.startswith("msg_")
    usage = answer.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (7, 5, 7)


def test_a_stream(client: Anthropic, loopback: Loopback) -> None:
    loopback.script(
        run(Think("h"), Think("m"), "Hel", "", "lo", finish=Finish.STOP_STRING, stop_string="END")
    )
    with client.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream:
        final = stream.get_final_message()
    assert final.content[0].type == "thinking" and final.content[0].thinking == "hm"
    assert final.content[0].signature
    assert final.content[1].type == "text" and final.content[1].text == "Hello"
    assert (final.stop_reason, final.stop_sequence) == ("stop_sequence", "END")
    usage = final.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (7, 5, 7)


def test_tool_calls_in_a_stream(client: Anthropic, loopback: Loopback) -> None:
    loopback.script(
        run(
            "I look.",
            Calling("one", "look", ('{"at"', ': "sea"}')),
            Calling("two", "look"),
            finish=Finish.TOOL_CALLS,
        )
    )
    with client.messages.stream(model="m", max_tokens=9, messages=HELLO, tools=[LOOK]) as stream:
        final = stream.get_final_message()
    assert final.stop_reason == "tool_use"
    assert [
        (block.id, block.name, block.input) for block in final.content if block.type == "tool_use"
    ] == [("toolu_one", "look", {"at": "sea"}), ("toolu_two", "look", {})]


@pytest.mark.parametrize("arguments", ['{"a": 1, "b": "x', '{"a": 1} go', "go", '{"a" 1}', ""])
def test_bad_arguments_do_not_break_the_client(
    client: Anthropic, loopback: Loopback, arguments: str
) -> None:
    """The SDK raises on malformed pieces; the whole answer holds the same object."""
    loopback.script(run(Calling("one", "look", tuple(arguments)), finish=Finish.TOOL_CALLS))
    whole = client.messages.create(model="m", max_tokens=9, messages=HELLO)
    with client.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream:
        streamed = stream.get_final_message()
    assert whole.content[0].type == streamed.content[0].type == "tool_use"
    assert whole.content[0].input == streamed.content[0].input


def test_a_reply_can_be_sent_back_as_it_is(client: Anthropic, loopback: Loopback) -> None:
    """FROM-11: what the SDK hands out goes in again as the same turn."""
    loopback.script(
        run(
            Think("hm"),
            "I look.",
            Calling("one", "look", ('{"b": 1, "a": [2.0]}',)),
            finish=Finish.TOOL_CALLS,
        )
    )
    answer = client.messages.create(model="m", max_tokens=9, messages=HELLO, tools=[LOOK])
    loopback.script(run("It is blue."))
    client.messages.create(
        model="m",
        max_tokens=9,
        tools=[LOOK],
        messages=[
            *HELLO,
            {"role": "assistant", "content": answer.content},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_one", "content": "sea"}],
            },
        ],
    )
    assert loopback.seen is not None
    turn, result = loopback.seen.call.conversation.items[1:]
    assert str(turn) == (
        "Assistant(text='I look.', reasoning='hm', "
        "calls=(ToolCall(id='one', name='look', arguments='{\"a\":[2],\"b\":1}'),))"
    )
    assert str(result) == "ToolResult(call_id='one', text='sea', is_error=False)"


def test_an_error_inside_a_stream(client: Anthropic, loopback: Loopback) -> None:
    """P19: never an empty success."""
    loopback.script(run("Hel")[:-1], failure="the engine stopped")
    with (
        pytest.raises(anthropic.APIStatusError, match="the engine stopped"),
        client.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream,
    ):
        stream.get_final_message()


@pytest.mark.parametrize(
    ("refusal", "expected", "words"),
    [
        (invalid("no", "system"), anthropic.BadRequestError, "system: no"),
        (prompt_too_long(9, 8), anthropic.BadRequestError, "prompt is too long: 9 tokens > 8"),
        (RequestError(401, "no key"), anthropic.AuthenticationError, "no key"),
        (RequestError(404, "no model"), anthropic.NotFoundError, "no model"),
        (RequestError(413, "too big"), anthropic.APIStatusError, "too big"),
        (overloaded("busy"), anthropic.InternalServerError, "busy"),
    ],
)
def test_refusals(
    client: Anthropic,
    loopback: Loopback,
    refusal: RequestError,
    expected: type[anthropic.APIStatusError],
    words: str,
) -> None:
    loopback.refusal = refusal
    with pytest.raises(expected, match=words) as caught:
        client.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert caught.value.body and "req_1" in str(caught.value.body)


def test_a_prefill_through_the_sdk(client: Anthropic, loopback: Loopback) -> None:
    """BRANCH-2."""
    loopback.script(run(" is blue."))
    client.messages.create(
        model="m",
        max_tokens=9,
        messages=[*HELLO, {"role": "assistant", "content": "The sea "}],
        extra_body={"temperature": 0, "seed": 7},
    )
    assert loopback.seen is not None
    assert isinstance(loopback.seen, messages.MessagesRequest)
    assert loopback.seen.call.opening is Opening.CONTINUE
    assert loopback.seen.call.sampling.seed == 7


def test_counting_tokens(client: Anthropic, loopback: Loopback) -> None:
    counted = client.messages.count_tokens(model="m", messages=HELLO, tools=[LOOK])
    assert counted.input_tokens == 12
    assert loopback.seen is not None
    assert [tool.name for tool in loopback.seen.call.conversation.tools] == ["look"]


async def test_the_async_client(async_client: AsyncAnthropic, loopback: Loopback) -> None:
    loopback.script(run("Hello ", "you."))
    answer = await async_client.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert answer.content[0].type == "text" and answer.content[0].text == "Hello you."
    async with async_client.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream:
        assert await stream.get_final_text() == "Hello you."
