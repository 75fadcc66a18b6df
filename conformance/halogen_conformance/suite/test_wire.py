"""WIRE: the routes as unmodified clients know them. All of it is reported, none of it judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from halogen_conformance.drivers import CHAT, DRIVERS, MESSAGES, Driver
from halogen_conformance.drivers.client import Client, Leave
from halogen_conformance.drivers.conversation import Conversation, Tool
from halogen_conformance.drivers.driver import Options, Request
from halogen_conformance.drivers.messages import MessagesDriver
from halogen_conformance.outcomes import Blocked, arranged, expect, expect_equal
from halogen_conformance.suite.kept import SHORT, NewName, fresh
from halogen_conformance.suite.marks import requirement, x3

LOOK = Tool(
    "look_up",
    "Looks a word up.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
MANY = "Größe, naïve, 名前, 💡👩‍👩‍👧, مرحبا"

ASKED: dict[str, tuple[Conversation, Options]] = {
    "a short reply": (fresh("short"), SHORT),
    "an end by the limit": (fresh("limit"), Options(max_tokens=1)),
    "a stop string": (fresh("stop"), Options(stop=("e", "a"))),
    "many scripts": (fresh("scripts").user(MANY), SHORT),
    "a tool call": (
        fresh("tools").user("Use look_up for the word rain.").with_tools(LOOK),
        Options(max_tokens=64, tool_choice="required"),
    ),
    "tools that are not used": (fresh("none").with_tools(LOOK), Options(tool_choice="none")),
    "a result of a tool": (
        fresh("result").with_tools(LOOK),
        SHORT,
    ),
}


def check_the_wire(client: Client, driver: Driver, *, stream: bool) -> None:
    for what, (history, options) in ASKED.items():
        answer = client.ask(driver, history, replace(options, stream=stream))
        expect(answer.ok, expected=f"an answer: {what}", actual=answer.story)
        problems = [str(problem) for problem in answer.problems]
        expect_equal(f"problems of {what}", problems, [])


@pytest.mark.parametrize("route", DRIVERS)
@requirement("WIRE-1")
def test_answers_fit_the_schema(client: Client, driver: Driver) -> None:
    check_the_wire(client, driver, stream=False)


@pytest.mark.parametrize("route", DRIVERS)
@requirement("WIRE-2")
def test_streams_fit_the_schema(client: Client, driver: Driver) -> None:
    check_the_wire(client, driver, stream=True)


@x3
@requirement("WIRE-2")
def test_a_refusal_is_no_stream(client: Client, driver: Driver, options: Options) -> None:
    request = driver.request(fresh("refused"), options)
    exchange = client.send(replace(request, body={"stream": options.stream}, deliberately_bad=True))

    refused = exchange.status is not None and 400 <= exchange.status < 500
    expect(refused, expected="a 4xx for a body without a history", actual=exchange.status)
    expect(not exchange.is_stream, expected="a JSON error", actual=exchange.media_type)


def bad_bodies(driver: Driver) -> dict[str, Any]:
    good: dict[str, Any] = driver.request(fresh("bad"), SHORT).body
    turns = "input" if driver.route == "responses" else "messages"
    nested: Any = "deep"
    for _ in range(60):
        nested = [{"type": "text", "text": nested}]
    return {
        "nothing": b"",
        "no JSON": b"{'model':",
        "cut JSON": b'{"model": "default", "messages": [{"role": "user", "con',
        "bytes that are not UTF-8": b'{"model": "\xff\xfe"}',
        "a list": [],
        "a word": "hello",
        "null": b"null",
        "no history": {key: value for key, value in good.items() if key != turns},
        "an empty history": good | {turns: []},
        "a history that is a number": good | {turns: 7},
        "a turn that is a word": good | {turns: ["hello"]},
        "a role nobody has": good | {turns: [{"role": "ghost", "content": "boo"}]},
        "content that is a number": good | {turns: [{"role": "user", "content": 7}]},
        "deep nesting": good | {turns: [{"role": "user", "content": nested}]},
        "very deep nesting": b"[" * 20_000 + b"]" * 20_000,
        "half a surrogate pair": (
            b'{"model": "default", "max_tokens": 4, "%s": [{"role": "user", "content": "\\ud83d"}]}'
            % turns.encode()
        ),
        "temperature that is a word": good | {"temperature": "hot"},
        "stream that is a word": good | {"stream": "yes"},
    }


LET_THROUGH = {"half a surrogate pair"}
"""May be answered, too, with the character that stands for what cannot be read."""


@pytest.mark.parametrize("route", DRIVERS)
@requirement("WIRE-3")
def test_bad_requests_are_refused(client: Client, driver: Driver) -> None:
    for what, body in bad_bodies(driver).items():
        request = replace(driver.request(fresh("x"), SHORT), body=body, deliberately_bad=True)
        exchange = client.send(request)
        status = exchange.status or 0
        fine = 400 <= status < 500 or (what in LET_THROUGH and status == 200)
        expect(fine, expected=f"a 4xx for {what}", actual=f"{status} {exchange.error}")
        if status != 200:
            reply = driver.error(_json(exchange.body, exchange.json))
            expect(
                reply.error is not None and not reply.problems,
                expected=f"an error in the shape of {driver.path} for {what}",
                actual=exchange.body[:300].decode("utf-8", "replace"),
            )


def _json(body: bytes, parse: Any) -> Any:
    try:
        return parse()
    except ValueError:
        return body.decode("utf-8", "replace")


@x3
@requirement("WIRE-4")
def test_unknown_fields_and_queries_are_let_through(
    client: Client, driver: Driver, options: Options
) -> None:
    unknown = {
        "x_unknown": {"deep": [1, None, {"a": True}]},
        "client_metadata": {},
        "service_tier": "auto",
        "prompt_cache_key": "a-key",
    }
    request = driver.request(fresh("unknown"), replace(options, extra=unknown))
    request = replace(request, path=f"{request.path}?beta=true&x=%20&y")

    exchange = client.send(request)

    expect_equal("status", exchange.status, 200)


@requirement("WIRE-4")
def test_what_claude_code_sends_is_let_through(client: Client) -> None:
    extra = {
        "max_tokens": 128000,
        "thinking": {"type": "adaptive", "display": "omitted"},
        "context_management": {"edits": []},
        "output_config": {"effort": "medium"},
        "metadata": {"user_id": "user_x_account__session_y"},
    }
    request = MESSAGES.request(fresh("cc"), Options(stream=True, extra=extra))

    # More tokens than any context has room for: the reply is not waited for.
    exchange = client.send(replace(request, path="/v1/messages?beta=true"), leave=Leave(after=2))

    expect_equal("status", exchange.status, 200)


@requirement("WIRE-5")
def test_a_count_is_the_prompt_size(client: Client, new_name: NewName) -> None:
    counting = MessagesDriver()
    histories = {
        "a question": fresh(new_name("count")),
        "many scripts": Conversation().user(MANY),
        "tools": fresh("tools").with_tools(LOOK),
        "several turns": fresh("turns").assistant("Red.").user("And another?"),
    }
    for what, history in histories.items():
        exchange = client.send(counting.count_request(history))
        expect_equal(f"status of a count with {what}", exchange.status, 200)
        answer = client.ask(MESSAGES, history, SHORT)
        arranged(answer.ok, f"the same body was not answered: {answer.story}")
        if answer.reply.usage is None:
            raise Blocked("a reply has no usage")
        counted = _json(exchange.body, exchange.json)
        counted = counted.get("input_tokens") if isinstance(counted, dict) else counted
        expect_equal(f"input_tokens of a count with {what}", counted, answer.reply.usage.prompt)


@requirement("WIRE-3")
def test_paths_and_methods_that_do_not_exist(client: Client) -> None:
    for method, path, wanted in (
        ("GET", CHAT.path, {404, 405}),
        ("DELETE", "/halogen/handles", {404, 405}),
        ("POST", "/v1/nothing", {404, 405}),
    ):
        exchange = client.send(Request(method, path))
        status = exchange.status
        expect(status in wanted, expected=f"404 or 405 for {method} {path}", actual=status)
