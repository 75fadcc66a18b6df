"""The official SDKs' tool loops, unmodified, with conversations kept at each step (FROM-11)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.protocol.server import Server, running
from tests.protocol.toolbox import TOOLS

Namer = Callable[[str], str]
CLIENT: dict[str, Any] = {"api_key": "any", "max_retries": 0, "timeout": 60}
ASK = "Please use tools."


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A model that calls tools when it is asked to."""
    log = tmp_path_factory.mktemp("loops") / "log"
    chosen = {"HALOGEN_FORK": "1", "HALOGEN_KV_POOL_POSITIONS": "16384"}
    with running("simulator", log, chosen) as server:
        yield server


def moved(name: str) -> dict[str, str]:
    """A conversation that is moved forward under one name (JOIN-2)."""
    return {"X-Halogen-From": name, "X-Halogen-Keep": name}


def test_chat(simulator: Server, name: Namer) -> None:
    tools: Any = [{"type": "function", "function": tool} for tool in TOOLS]
    messages: list[Any] = [{"role": "user", "content": ASK}]
    outcomes = []
    with openai.OpenAI(base_url=f"{simulator.url}/v1", **CLIENT) as sdk:
        for _ in range(3):
            got = sdk.chat.completions.with_raw_response.create(
                model="m", messages=messages, tools=tools, extra_headers=moved(name("loop"))
            )
            outcomes.append(got.headers["x-halogen-from"])
            message = got.parse().choices[0].message
            messages.append(message)
            if not message.tool_calls:
                messages.append({"role": "user", "content": "And then?"})
            for call in message.tool_calls or ():
                assert call.type == "function" and json.loads(call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "fair"})
    assert outcomes == ["unknown", "used", "used"]
    assert sum(isinstance(one, dict) and one["role"] == "tool" for one in messages) == 2


def test_responses(simulator: Server, name: Namer) -> None:
    tools: Any = [{"type": "function", "strict": True, **tool} for tool in TOOLS]
    history: list[Any] = [{"role": "user", "content": ASK}]
    outcomes = []
    with openai.OpenAI(base_url=f"{simulator.url}/v1", **CLIENT) as sdk:
        for _ in range(3):
            got = sdk.responses.with_raw_response.create(
                model="m", input=history, tools=tools, extra_headers=moved(name("loop"))
            )
            outcomes.append(got.headers["x-halogen-from"])
            output = got.parse().output
            history += output
            calls = [item for item in output if item.type == "function_call"]
            history += [
                {"type": "function_call_output", "call_id": call.call_id, "output": "fair"}
                for call in calls
            ] or [{"role": "user", "content": "And then?"}]
    assert outcomes == ["unknown", "used", "used"]


def test_messages(simulator: Server, name: Namer) -> None:
    tools: Any = [
        {"name": one["name"], "description": one["description"], "input_schema": one["parameters"]}
        for one in TOOLS
    ]
    messages: list[Any] = [{"role": "user", "content": ASK}]
    outcomes = []
    with anthropic.Anthropic(base_url=simulator.url, **CLIENT) as sdk:
        for _ in range(3):
            with sdk.messages.stream(
                model="m",
                max_tokens=400,
                messages=messages,
                tools=tools,
                extra_headers=moved(name("loop")),
            ) as stream:
                outcomes.append(stream.response.headers["x-halogen-from"])
                message = stream.get_final_message()
            messages.append({"role": "assistant", "content": message.content})
            found: list[Any] = [
                {"type": "tool_result", "tool_use_id": block.id, "content": "fair"}
                for block in message.content
                if block.type == "tool_use"
            ]
            messages.append({"role": "user", "content": found or "And then?"})
    assert outcomes == ["unknown", "used", "used"]


def test_the_tool_runner(simulator: Server, name: Namer) -> None:
    """The SDK calls the functions itself, until the model has no more calls. It first tries to send
    the new messages only (P17), and must understand that it has to send all."""
    asked: list[str] = []
    outcomes: list[str | None] = []
    seen = anthropic.DefaultHttpxClient(
        event_hooks={"response": [lambda got: outcomes.append(got.headers.get("x-halogen-from"))]}
    )

    @anthropic.beta_tool
    def wind(unit: str) -> str:
        """How strong the wind is."""
        asked.append(unit)
        return "fair"

    with anthropic.Anthropic(base_url=simulator.url, http_client=seen, **CLIENT) as sdk:
        runner = sdk.beta.messages.tool_runner(
            model="m",
            max_tokens=400,
            tools=[wind],
            messages=[{"role": "user", "content": "Please use a tool."}],
            extra_headers=moved(name("runner")),
        )
        last = runner.until_done()
    assert len(asked) == 1 and last.stop_reason == "end_turn"
    assert outcomes == ["unknown", "unmatched", "used"], "the second has the new messages only"
