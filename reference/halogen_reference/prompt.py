"""A conversation as the model reads it: the chat template's output, cut at every message's edge.

The template is the model's own, rendered in Jinja2's sandbox. Each message's content is wrapped in
marks before rendering; cutting the output at the marks gives pieces that are tokenised one by one.
That buys three things: the place where a kept reply ends and what follows begins is known by
construction (a *seam*), a cold prompt and a continued one have the same tokens, and text from a
client can never be read as a control token.
"""

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from halogen_reference import tool_form
from halogen_reference.call import Opening
from halogen_reference.conversation import Assistant, Conversation, System, ToolResult, User
from halogen_reference.errors import RequestError, invalid

# With the line breaks after it, which templates strip.
_TAG = re.compile(rf"(?:{tool_form.THINK_OPEN}|{tool_form.THINK_CLOSE})\n*")


class TemplateUnreadable(ValueError):
    """The model's chat template is no Jinja2 template; the message is one line."""


class Seam(NamedTuple):
    """An edge of an assistant turn's content: where the reply starts, or where it ends."""

    item: int
    """Index of the turn in ``Conversation.items``."""
    end: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Text to tokenise on its own. ``special``: it is the template's, control tokens count."""

    text: str
    special: bool
    seam: Seam | None = None
    """The seam at this piece's end, if there is one."""


Prompt = tuple[Piece, ...]


class ChatTemplate:
    """Renders conversations with one chat template.

    ``source`` is Jinja2 text as models ship it; ``texts`` are the variables it may print, such as
    ``bos_token``; ``prefix`` is text every prompt begins with, added where the template leaves it
    out. Raises TemplateUnreadable when the source is not a template.
    """

    def __init__(self, source: str, texts: dict[str, str] | None = None, prefix: str = "") -> None:
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise_exception
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise TemplateUnreadable(f"the chat template cannot be read: {error}") from None
        self._texts = texts or {}
        self._prefix = prefix
        self._offers_tools = "tools" in source and "<tool_call>" in source
        # Unguessable, so no client can put a mark into its text.
        self._nonce = f"M{secrets.token_hex(12)}"
        self._mark = re.compile(rf"{self._nonce}:(-?\d+)([sme]);")

    def render(self, conversation: Conversation, opening: Opening = Opening.REPLY) -> Prompt:
        """The prompt for a reply. Raises RequestError 400 when the template refuses it."""
        messages = list(self._messages(conversation))
        tools = tool_form.declarations(conversation.tools) if self._offers_tools else None
        try:
            text = self._template.render(
                messages=messages,
                tools=tools or None,
                add_generation_prompt=opening is Opening.REPLY,
                **self._texts,
            )
        except TemplateError as error:
            raise self._failure("refuses", error) from None
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise self._failure("fails on", error) from None
        if not text.startswith(self._prefix):
            text = self._prefix + text
        return tuple(self._pieces(text, conversation, opening))

    def _failure(self, verb: str, error: Exception) -> RequestError:
        # A template may quote the message it refuses: whoever saw a mark could forge one.
        why = self._mark.sub("", str(error))
        return invalid(f"the model's chat template {verb} this history: {why}", "messages")

    def _messages(self, conversation: Conversation) -> Iterator[dict[str, str]]:
        items = conversation.items
        if conversation.tools and not self._offers_tools:
            head = items[0].text if items and isinstance(items[0], System) else ""
            offer = tool_form.offer(head, conversation.tools)
            yield {"role": "system", "content": self._marked(0 if head else -1, offer)}
            start = 1 if head else 0
        else:
            start = 0
        for index in range(start, len(items)):
            match items[index]:
                case System(text):
                    yield {"role": "system", "content": self._marked(index, text)}
                case User(text):
                    yield {"role": "user", "content": self._marked(index, text)}
                case ToolResult() as result if self._offers_tools:
                    text = tool_form.result_text(result)
                    yield {"role": "tool", "content": self._marked(index, text)}
                case ToolResult() as result:
                    text = tool_form.result(result)
                    yield {"role": "user", "content": self._marked(index, text)}
                case Assistant() as turn:
                    # Templates cut a turn at these tags: each part needs a mark of its own.
                    middle = f"{self._nonce}:{index}m;"
                    text = _TAG.sub(rf"\g<0>{middle}", tool_form.turn(turn))
                    yield {"role": "assistant", "content": self._marked(index, text)}

    def _marked(self, index: int, text: str) -> str:
        return f"{self._nonce}:{index}s;{text}{self._nonce}:{index}e;"

    def _pieces(self, text: str, conversation: Conversation, opening: Opening) -> Iterator[Piece]:
        """Cut at the marks. Text between a message's two marks is content, all else template;
        where a template dropped one of the two, text that may be content counts as content."""
        last = len(conversation.items) - 1
        parts = self._mark.split(text)
        inside: int | None = None
        held = ""
        for at in range(0, len(parts) - 1, 3):
            index, kind = int(parts[at + 1]), parts[at + 2]
            content = held + parts[at]
            held = content if kind == "m" and inside == index else ""
            if held:
                continue
            is_turn = index >= 0 and isinstance(conversation.items[index], Assistant)
            seam = Seam(index, kind == "e") if is_turn and kind != "m" else None
            if content or seam:
                yield Piece(content, inside is None and kind != "e", seam)
            inside = None if kind == "e" else index
            if opening is Opening.CONTINUE and kind == "e" and index == last:
                return
        if opening is Opening.CONTINUE:
            raise invalid(
                "the model's chat template does not show the text to continue", "messages"
            )
        seam = Seam(last + 1, False) if opening is Opening.REPLY else None
        yield Piece(held + parts[-1], inside is None, seam)


def after(prompt: Prompt, seam: Seam) -> Prompt | None:
    """The pieces that follow a seam; None unless the template shows it exactly once."""
    found = [index for index, piece in enumerate(prompt) if piece.seam == seam]
    return prompt[found[0] + 1 :] if len(found) == 1 else None


def _tojson(value: Any, indent: int | None = None, **_: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> None:
    raise TemplateError(message)
