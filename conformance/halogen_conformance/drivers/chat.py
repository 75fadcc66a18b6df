"""Chat Completions: an abstract conversation to its request, its answers to a reply."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.chat_stream import ChatFold
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
from halogen_conformance.drivers.driver import (
    DEFAULTS,
    Fold,
    Options,
    Request,
    answering,
    choosing,
)
from halogen_conformance.drivers.reading import (
    Notes,
    items,
    mapping,
    openai_error,
    text,
    text_or_none,
)
from halogen_conformance.drivers.reply import Finish, Reply
from halogen_conformance.drivers.spelling import PLAIN, Spelling, respell_arguments
from halogen_conformance.drivers.usage import FINISH_WORDS, openai_usage

PATH = "/v1/chat/completions"

_NAMES = {name: name for name in ("max_tokens", "temperature", "seed", "stop", "stream")}


@dataclass(frozen=True, slots=True)
class ChatDriver:
    """``POST /v1/chat/completions``, with and without a stream. Stateless."""

    route: str = field(default="chat", init=False)
    path: str = field(default=PATH, init=False)

    def request(
        self, conversation: Conversation, options: Options = DEFAULTS, spelling: Spelling = PLAIN
    ) -> Request:
        body: dict[str, Json] = {
            "model": options.model,
            "messages": [_message(turn, spelling) for turn in conversation.turns],
        }
        if conversation.partial:
            # Servers that render with a template refuse the first flag beside an open second.
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        if conversation.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in conversation.tools
            ]
        body |= answering(options, _NAMES)
        if options.n != 1:
            body["n"] = options.n
        if options.stream:
            body["stream_options"] = {"include_usage": True}
        body |= choosing(options, {"type": "function", "function": {"name": options.tool_choice}})
        if spelling.null_fields:
            body |= {key: None for key in ("stop", "tool_choice", "seed") if key not in body}
        return Request("POST", PATH, body=body | options.extra, route=self.route)

    def reply(self, body: Json) -> Reply:
        notes = Notes()
        answer = mapping(body)
        usage = openai_usage(answer.get("usage"), "usage", notes)
        choices = items(answer.get("choices"))
        notes.add_unless(bool(choices), "choices", "missing or empty")
        replies = [_choice(mapping(choice), notes) for choice in choices] or [Reply()]
        first = replies[0]
        return Reply(
            first.text,
            first.reasoning,
            first.calls,
            first.finish,
            first.finish_word,
            usage=usage,
            id=text_or_none(answer.get("id")),
            model=text_or_none(answer.get("model")),
            others=tuple(replies[1:]),
            problems=tuple(notes.found),
        )

    def fold(self, *, usage_expected: bool = True) -> Fold:
        return ChatFold(usage_expected=usage_expected)

    def error(self, body: Json) -> Reply:
        notes = Notes()
        error = openai_error(body, notes)
        return Reply(error=error, finish=Finish.FAILED, problems=tuple(notes.found))


def _message(turn: Turn, spelling: Spelling) -> dict[str, Json]:
    if isinstance(turn, System):
        return {"role": "system", "content": _content((turn.text,), spelling)}
    if isinstance(turn, User):
        return {"role": "user", "content": _content(turn.texts, spelling)}
    if isinstance(turn, ToolResult):
        content = _content((turn.text,), spelling)
        return {"role": "tool", "tool_call_id": turn.call_id, "content": content}
    return _assistant(turn, spelling)


def _assistant(turn: Assistant, spelling: Spelling) -> dict[str, Json]:
    # A turn of calls alone has null content, as the SDKs send it back.
    silent = not turn.text and turn.calls
    message: dict[str, Json] = {
        "role": "assistant",
        "content": None if silent else _content((turn.text,), spelling),
    }
    if turn.reasoning is not None:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": respell_arguments(call.arguments, spelling.arguments),
                },
            }
            for call in turn.calls
        ]
    return message


def _content(texts: tuple[str, ...], spelling: Spelling) -> Json:
    if len(texts) == 1 and spelling.text == "string":
        return texts[0]
    return [{"type": "text", "text": one} for one in texts]


def _choice(choice: dict[str, Json], notes: Notes) -> Reply:
    message = mapping(choice.get("message"))
    word = text_or_none(choice.get("finish_reason"))
    notes.add_unless(word is not None, "choices[].finish_reason", "missing")
    calls = []
    for number, entry in enumerate(items(message.get("tool_calls"))):
        function = mapping(mapping(entry).get("function"))
        arguments = function.get("arguments")
        notes.add_unless(
            isinstance(arguments, str),
            f"tool_calls[{number}].function.arguments",
            "must be JSON text in a string",
        )
        call_id = text(mapping(entry).get("id"))
        calls.append(Call(call_id, text(function.get("name")), text(arguments)))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return Reply(
        text(message.get("content")),
        text(reasoning),
        tuple(calls),
        FINISH_WORDS["chat"].get(word, Finish.OTHER) if word else None,
        word,
    )
