"""Messages: an abstract conversation to its request, its answers to a reply."""

import json
from dataclasses import dataclass, field

from halogen_conformance.drivers.conversation import (
    Assistant,
    Call,
    Conversation,
    Json,
    System,
    ToolResult,
    Turn,
    User,
)
from halogen_conformance.drivers.driver import DEFAULTS, Fold, Options, Request, answering
from halogen_conformance.drivers.messages_stream import MessagesFold
from halogen_conformance.drivers.reading import (
    Notes,
    anthropic_error,
    items,
    mapping,
    text,
    text_or_none,
)
from halogen_conformance.drivers.reply import Finish, Reply
from halogen_conformance.drivers.spelling import PLAIN, Spelling, respell_arguments
from halogen_conformance.drivers.usage import FINISH_WORDS, anthropic_usage

PATH = "/v1/messages"
COUNT_PATH = "/v1/messages/count_tokens"
ANTHROPIC_VERSION = ("anthropic-version", "2023-06-01")

_NAMES = {"stop": "stop_sequences"} | {
    name: name for name in ("max_tokens", "temperature", "stream")
}
_TOOL_CHOICES = {"none": "none", "auto": "auto", "required": "any"}


@dataclass(frozen=True, slots=True)
class MessagesDriver:
    """``POST /v1/messages``, with and without a stream, and its token count. Stateless."""

    route: str = field(default="messages", init=False)
    path: str = field(default=PATH, init=False)

    def request(
        self, conversation: Conversation, options: Options = DEFAULTS, spelling: Spelling = PLAIN
    ) -> Request:
        body = _prompt(conversation, options, spelling)
        body |= {"max_tokens": 1024} | answering(options, _NAMES)
        return Request("POST", PATH, (ANTHROPIC_VERSION,), body | options.extra, self.route)

    def count_request(
        self, conversation: Conversation, options: Options = DEFAULTS, spelling: Spelling = PLAIN
    ) -> Request:
        """Ask for the prompt size of the same body (``{"input_tokens": N}``)."""
        body = _prompt(conversation, options, spelling) | options.extra
        return Request("POST", COUNT_PATH, (ANTHROPIC_VERSION,), body, "count_tokens")

    def reply(self, body: Json) -> Reply:
        notes = Notes()
        answer = mapping(body)
        notes.add_unless(isinstance(answer.get("content"), list), "content", "must be an array")
        texts, thoughts, calls = [], [], []
        for entry in items(answer.get("content")):
            block = mapping(entry)
            kind = block.get("type")
            if kind == "text":
                texts.append(text(block.get("text")))
            elif kind == "thinking":
                thoughts.append(text(block.get("thinking")))
            elif kind == "tool_use":
                arguments = json.dumps(block.get("input"), ensure_ascii=False)
                calls.append(Call(text(block.get("id")), text(block.get("name")), arguments))
        word = text_or_none(answer.get("stop_reason"))
        notes.add_unless(word is not None, "stop_reason", "missing")
        return Reply(
            "".join(texts),
            "".join(thoughts),
            tuple(calls),
            FINISH_WORDS["messages"].get(word, Finish.OTHER) if word else None,
            word,
            text_or_none(answer.get("stop_sequence")),
            anthropic_usage(answer.get("usage"), "usage", notes),
            text_or_none(answer.get("id")),
            text_or_none(answer.get("model")),
            problems=tuple(notes.found),
        )

    def fold(self, *, usage_expected: bool = True) -> Fold:
        return MessagesFold(usage_expected=usage_expected)

    def error(self, body: Json) -> Reply:
        notes = Notes()
        error = anthropic_error(body, notes)
        return Reply(error=error, finish=Finish.FAILED, problems=tuple(notes.found))


def _prompt(conversation: Conversation, options: Options, spelling: Spelling) -> dict[str, Json]:
    """Everything of a body that becomes prompt."""
    head = 0
    while head < len(conversation.turns) and isinstance(conversation.turns[head], System):
        head += 1
    system = [_block(turn.text) for turn in conversation.turns[:head] if isinstance(turn, System)]
    messages = _messages(conversation.turns[head:], spelling)
    _mark([*system, *_text_blocks(messages)], spelling)
    body: dict[str, Json] = {"model": options.model}
    if system:
        body["system"] = system if len(system) > 1 else _plain(system, spelling)
    body["messages"] = [
        {**message, "content": _plain(message["content"], spelling)} for message in messages
    ]
    if conversation.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in conversation.tools
        ]
    if options.tool_choice is not None:
        kind = _TOOL_CHOICES.get(options.tool_choice)
        named = {"type": "tool", "name": options.tool_choice}
        body["tool_choice"] = {"type": kind} if kind else named
    return body


def _block(value: str) -> dict[str, Json]:
    return {"type": "text", "text": value}


def _messages(turns: tuple[Turn, ...], spelling: Spelling) -> list[dict[str, Json]]:
    """Messages whose content is always a list; tool results and the user texts right after them
    share one user message, results first, as the public API asks."""
    messages: list[dict[str, Json]] = []
    open_results = False
    for turn in turns:
        if isinstance(turn, ToolResult):
            if not open_results:
                messages.append({"role": "user", "content": []})
            messages[-1]["content"].append(_result(turn, spelling))
            open_results = True
            continue
        if isinstance(turn, User):
            blocks = [_block(one) for one in turn.texts]
            if open_results:
                messages[-1]["content"].extend(blocks)
            else:
                messages.append({"role": "user", "content": blocks})
        elif isinstance(turn, System):
            messages.append({"role": "system", "content": [_block(turn.text)]})
        else:
            messages.append({"role": "assistant", "content": _assistant(turn, spelling)})
        open_results = False
    return messages


def _assistant(turn: Assistant, spelling: Spelling) -> list[dict[str, Json]]:
    blocks: list[dict[str, Json]] = []
    if turn.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": ""})
    if turn.text:
        blocks.append(_block(turn.text))
    for call in turn.calls:
        arguments = json.loads(respell_arguments(call.arguments, spelling.arguments) or "{}")
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


def _result(turn: ToolResult, spelling: Spelling) -> dict[str, Json]:
    content: Json = turn.text if spelling.text == "string" else [_block(turn.text)]
    block = {"type": "tool_result", "tool_use_id": turn.call_id, "content": content}
    if turn.is_error or spelling.false_is_error:
        block["is_error"] = turn.is_error
    return block


def _text_blocks(messages: list[dict[str, Json]]) -> list[dict[str, Json]]:
    return [
        block for message in messages for block in message["content"] if block["type"] == "text"
    ]


def _mark(blocks: list[dict[str, Json]], spelling: Spelling) -> None:
    chosen = {
        "none": [],
        "first": blocks[:1],
        "last": blocks[-1:],
        "all": blocks,
    }[spelling.cache_control]
    for block in chosen:
        block["cache_control"] = {"type": "ephemeral"}


def _plain(blocks: list[dict[str, Json]], spelling: Spelling) -> Json:
    """A single unmarked text block as the string it holds, when the spelling wants strings."""
    if spelling.text == "parts":
        return blocks
    if not blocks:
        return ""
    bare = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
    return blocks[0]["text"] if bare else blocks
