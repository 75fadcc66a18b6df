"""Responses: an abstract conversation to its request, its answers to a reply."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.conversation import (
    Assistant,
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
from halogen_conformance.drivers.reading import Notes, mapping, openai_error
from halogen_conformance.drivers.reply import Finish, Reply
from halogen_conformance.drivers.responses_output import read_response
from halogen_conformance.drivers.responses_stream import ResponsesFold
from halogen_conformance.drivers.spelling import PLAIN, Spelling, respell_arguments

PATH = "/v1/responses"

_NAMES = {"max_tokens": "max_output_tokens"} | {
    name: name for name in ("temperature", "seed", "stop", "stream")
}


@dataclass(frozen=True, slots=True)
class ResponsesDriver:
    """``POST /v1/responses``, with and without a stream. Stateless."""

    route: str = field(default="responses", init=False)
    path: str = field(default=PATH, init=False)

    def request(
        self, conversation: Conversation, options: Options = DEFAULTS, spelling: Spelling = PLAIN
    ) -> Request:
        """The first system text goes to ``instructions``, later ones stay in place as items."""
        turns = conversation.turns
        body: dict[str, Json] = {"model": options.model}
        if turns and isinstance(turns[0], System):
            body["instructions"] = turns[0].text
            turns = turns[1:]
        body["input"] = [item for turn in turns for item in _items(turn, spelling)]
        if conversation.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": False,
                }
                for tool in conversation.tools
            ]
        # Nothing is stored on the server's side: the whole history travels, as Codex does it.
        body |= {"store": False} | answering(options, _NAMES)
        body |= choosing(options, {"type": "function", "name": options.tool_choice})
        if spelling.null_fields:
            absent = ("tool_choice", "metadata", "previous_response_id", "reasoning")
            body |= {key: None for key in absent if key not in body}
        return Request("POST", PATH, body=body | options.extra, route=self.route)

    def reply(self, body: Json) -> Reply:
        notes = Notes()
        notes.add_unless(mapping(body).get("object") == "response", "object", 'must be "response"')
        reply = read_response(mapping(body), notes)
        return reply.with_problems(*notes.found)

    def fold(self, *, usage_expected: bool = True) -> Fold:
        return ResponsesFold(usage_expected=usage_expected)

    def error(self, body: Json) -> Reply:
        notes = Notes()
        error = openai_error(body, notes)
        return Reply(error=error, finish=Finish.FAILED, problems=tuple(notes.found))


def _items(turn: Turn, spelling: Spelling) -> list[dict[str, Json]]:
    if isinstance(turn, System):
        return [_message("developer", _content((turn.text,), "input_text", spelling), spelling)]
    if isinstance(turn, User):
        return [_message("user", _content(turn.texts, "input_text", spelling), spelling)]
    if isinstance(turn, ToolResult):
        output = _content((turn.text,), "input_text", spelling)
        return [{"type": "function_call_output", "call_id": turn.call_id, "output": output}]
    return _assistant(turn, spelling)


def _assistant(turn: Assistant, spelling: Spelling) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = []
    if turn.reasoning is not None:
        thought = {"type": "reasoning_text", "text": turn.reasoning}
        found.append({"type": "reasoning", "id": "rs_sent", "summary": [], "content": [thought]})
    if turn.text or not turn.calls:
        content = _content((turn.text,), "output_text", spelling)
        found.append(_message("assistant", content, spelling))
    for call in turn.calls:
        arguments = respell_arguments(call.arguments, spelling.arguments)
        found.append(
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": arguments,
            }
        )
    return found


def _message(role: str, content: Json, spelling: Spelling) -> dict[str, Json]:
    item: dict[str, Json] = {"role": role, "content": content}
    return {"type": "message", **item} if spelling.item_type else item


def _content(texts: tuple[str, ...], kind: str, spelling: Spelling) -> Json:
    if len(texts) == 1 and spelling.text == "string":
        return texts[0]
    return [{"type": kind, "text": one} for one in texts]
