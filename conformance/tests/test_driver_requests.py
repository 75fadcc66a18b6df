"""Abstract conversations to each route's JSON; every spelling is legal and means the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.drivers import CHAT, DRIVERS, MESSAGES, RESPONSES, Driver
from halogen_conformance.drivers.conversation import (
    Assistant,
    Call,
    Conversation,
    System,
    Tool,
    ToolResult,
    User,
)
from halogen_conformance.drivers.driver import BadOwnRequest, Options, Request, session_headers
from halogen_conformance.drivers.messages import MessagesDriver
from halogen_conformance.drivers.spelling import PLAIN, VARIANTS, Spelling, respell_arguments
from halogen_conformance.schema import check_request

TOOL = Tool("look", "Look at a file.", {"type": "object", "properties": {"path": {}}})
CALL = Call("call_1", "look", '{"path": "a", "depth": 2}')
AGENT = (
    Conversation()
    .system("Be brief.")
    .user("Look.", "Please.")
    .assistant("Looking.", (CALL,), "I should look.")
    .result("call_1", "nothing")
    .user("And now?")
    .system("10 tokens left")
    .with_tools(TOOL)
)


def body(driver: Driver, conversation: Conversation, spelling: Spelling = PLAIN) -> Any:
    return driver.request(conversation, Options(), spelling).body


def test_chat_writes_an_agents_history() -> None:
    assert body(CHAT, AGENT) == {
        "model": "default",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look."},
                    {"type": "text", "text": "Please."},
                ],
            },
            {
                "role": "assistant",
                "content": "Looking.",
                "reasoning_content": "I should look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": CALL.arguments},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "nothing"},
            {"role": "user", "content": "And now?"},
            {"role": "system", "content": "10 tokens left"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Look at a file.",
                    "parameters": TOOL.parameters,
                },
            }
        ],
        "max_tokens": 16,
        "temperature": 0.0,
    }


def test_messages_writes_an_agents_history() -> None:
    written = body(MESSAGES, AGENT)
    assert written["system"] == "Be brief."
    assert written["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": "Please."}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I should look.", "signature": ""},
                {"type": "text", "text": "Looking."},
                {
                    "type": "tool_use",
                    "id": "call_1",
                    "name": "look",
                    "input": {"path": "a", "depth": 2},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "nothing"},
                {"type": "text", "text": "And now?"},
            ],
        },
        {"role": "system", "content": "10 tokens left"},
    ]


def test_responses_writes_an_agents_history() -> None:
    written = body(RESPONSES, AGENT)
    assert written["instructions"] == "Be brief."
    kinds = [item.get("type") or item["role"] for item in written["input"]]
    assert kinds == [
        "user",
        "reasoning",
        "assistant",
        "function_call",
        "function_call_output",
        "user",
        "developer",
    ]


def test_a_branch_ends_in_an_open_assistant_turn() -> None:
    open_end = Conversation().user("Tell.").branch("Once upon ")
    chat = body(CHAT, open_end)
    assert chat["continue_final_message"] is True
    assert chat["add_generation_prompt"] is False
    for written in (chat["messages"], body(MESSAGES, open_end)["messages"]):
        assert written[-1] == {"role": "assistant", "content": "Once upon "}
    assert body(RESPONSES, open_end)["input"][-1]["role"] == "assistant"
    assert "continue_final_message" not in body(CHAT, open_end.user("No."))


def test_cache_control_marks_go_where_the_spelling_says() -> None:
    history = Conversation().system("s").user("a").assistant("b").user("c")

    def marked(where: Any) -> list[str]:
        written = body(MESSAGES, history, Spelling(cache_control=where))
        contents = [written["system"], *(message["content"] for message in written["messages"])]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        return [block["text"] for block in blocks if "cache_control" in block]

    assert [marked(where) for where in ("none", "first", "last", "all")] == [
        [],
        ["s"],
        ["c"],
        ["s", "a", "b", "c"],
    ]


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("given", '{"a": {"x": 1, "y": [2, 1]}, "b": 0}'),
        ("reversed", '{"b": 0, "a": {"y": [2, 1], "x": 1}}'),
        ("compact", '{"a":{"x":1,"y":[2,1]},"b":0}'),
    ],
)
def test_arguments_are_respelled_without_touching_arrays(how: str, text: str) -> None:
    assert respell_arguments('{"a": {"x": 1, "y": [2, 1]}, "b": 0}', how) == text
    assert respell_arguments("not json", how) == "not json"


def test_options_reach_the_field_their_route_has() -> None:
    options = Options(max_tokens=5, stop=("X",), seed=1, stream=True, tool_choice="look")
    history = Conversation().user("hi").with_tools(TOOL)
    chat, messages, responses = (
        driver.request(history, options).body for driver in (CHAT, MESSAGES, RESPONSES)
    )
    assert chat["stream_options"] == {"include_usage": True}
    assert (chat["max_tokens"], chat["stop"], chat["seed"]) == (5, ["X"], 1)
    assert messages["stop_sequences"] == ["X"]
    assert messages["tool_choice"] == {"type": "tool", "name": "look"}
    assert (responses["max_output_tokens"], responses["store"]) == (5, False)
    assert MESSAGES.request(history, Options(max_tokens=None)).body["max_tokens"] == 1024


def test_session_headers_and_repeated_ones() -> None:
    request = CHAT.request(Conversation().user("hi")).plus(*session_headers("k", "f"))
    assert request.plus(("X-Halogen-From", b"\xff")).headers == (
        ("X-Halogen-From", "f"),
        ("X-Halogen-Keep", "k"),
        ("X-Halogen-From", b"\xff"),
    )


def test_a_count_request_has_the_prompt_and_nothing_else() -> None:
    request = MessagesDriver().count_request(AGENT)
    assert request.path == "/v1/messages/count_tokens"
    assert set(request.body) == {"model", "system", "messages", "tools"}
    check_request(request)


_words = st.text(st.characters(codec="utf-8"), max_size=12)
_arguments = st.dictionaries(_words, st.integers() | _words, max_size=3)
_turns = st.one_of(
    st.builds(User, _words | st.tuples(_words, _words)),
    st.builds(System, _words),
    st.builds(Assistant, _words),
    st.just(Assistant("", (CALL,))),
    st.just(ToolResult("call_1", "r", True)),
)
_spellings = st.builds(
    Spelling,
    st.sampled_from(["string", "parts"]),
    st.booleans(),
    st.sampled_from(["none", "first", "last", "all"]),
    st.sampled_from(["given", "reversed", "compact", "spaced"]),
    st.booleans(),
    st.booleans(),
)


@given(st.sampled_from(list(DRIVERS)), st.lists(_turns, max_size=5), _spellings, st.booleans())
def test_every_spelling_of_every_conversation_is_a_legal_request(
    route: str, turns: list[Any], spelling: Spelling, stream: bool
) -> None:
    history = Conversation((User("hi"), *turns), (TOOL,))
    check_request(DRIVERS[route].request(history, Options(stream=stream), spelling))


@pytest.mark.parametrize("route", list(DRIVERS))
def test_the_listed_variants_differ_in_bytes(route: str) -> None:
    bodies = [DRIVERS[route].request(AGENT, Options(), one).body for _, one in VARIANTS[route]]
    texts = [repr(written) for written in bodies]
    assert len(set(texts)) == len(texts)


def test_a_bad_request_of_our_own_is_our_error() -> None:
    with pytest.raises(BadOwnRequest, match="messages"):
        check_request(Request("POST", "/v1/chat/completions", body={"model": "m"}, route="chat"))
    check_request(Request("POST", "/v1/chat/completions", (), {}, "chat", deliberately_bad=True))
    with pytest.raises(BadOwnRequest, match="not JSON"):
        check_request(Request("POST", "/v1/responses", body=b"{", route="responses"))
