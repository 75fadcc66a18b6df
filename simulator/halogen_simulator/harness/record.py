"""The records of a transcript: what one line of it holds, read and printed.

The format is that of an existing agent program, so its files load here and ours load there. A
file is one JSON object a line: first a ``session_meta``, then perhaps a ``compaction``, then the
messages. Records are frozen all the way down: a fork can change nothing of its parent's.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

Count = Annotated[int, Field(strict=True, ge=0)]
"""A whole number from 0. True, 1.0 and "1" are none."""


class RecordError(ValueError):
    """A record of the wrong shape; the message says in a few words what is wrong with it."""


def _trimmed(value: object) -> object:
    """Branch names are trimmed, and a blank one is none."""
    return (value.strip() or None) if isinstance(value, str) else value


def _argument_text(value: object) -> object:
    """Arguments are kept as JSON text; a file written by hand may have the object itself."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


class _Shape(BaseModel):
    # Fields of later versions are let through; what is known must be right.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Text(_Shape):
    """A block of text."""

    type: Literal["text"] = "text"
    text: str


class ToolUse(_Shape):
    """A tool call of the model."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: Annotated[str, BeforeValidator(_argument_text)]
    """JSON text, as the model wrote it."""


class ToolResult(_Shape):
    """What a tool gave back for the call ``tool_use_id``."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    tool_name: str
    output: str
    is_error: Annotated[bool, Field(strict=True)]


Block = Annotated[Text | ToolUse | ToolResult, Field(discriminator="type")]


class Usage(_Shape):
    """Tokens of one reply. The prompt's size is the sum of the three input counts."""

    input_tokens: Count
    """Evaluated."""
    output_tokens: Count
    cache_creation_input_tokens: Count = 0
    """Evaluated, and reported as written to a cache."""
    cache_read_input_tokens: Count = 0
    """Reused."""

    @property
    def evaluated(self) -> int:
        return self.input_tokens + self.cache_creation_input_tokens


class Message(_Shape):
    """One turn: who speaks, its blocks in order, and for a reply the tokens it cost."""

    role: Literal["system", "user", "assistant", "tool"]
    blocks: tuple[Block, ...]
    usage: Usage | None = None

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, Text))


class Fork(_Shape):
    """Where a session comes from."""

    parent_session_id: str
    branch_name: Annotated[str | None, BeforeValidator(_trimmed)] = None


class SessionMeta(_Shape):
    """The first line of a file. Times are milliseconds since 1970, UTC."""

    type: Literal["session_meta"] = "session_meta"
    version: Literal[1] = 1
    session_id: Annotated[str, Field(min_length=1)]
    created_at_ms: Count
    updated_at_ms: Count
    fork: Fork | None = None


class Compaction(_Shape):
    """The last time the history was replaced by a summary."""

    type: Literal["compaction"] = "compaction"
    count: Count
    removed_message_count: Count
    summary: str


class MessageLine(_Shape):
    """A line of a file that holds one message."""

    type: Literal["message"] = "message"
    message: Message


class OlderSession(_Shape):
    """The older form of a file: the whole session as one JSON object."""

    version: Literal[1]
    session_id: str | None = None
    created_at_ms: Count | None = None
    updated_at_ms: Count | None = None
    messages: tuple[Message, ...]
    # Here a compaction has no type.
    compaction: Compaction | None = None
    fork: Fork | None = None


Record = SessionMeta | Compaction | MessageLine

_KINDS: dict[str, TypeAdapter[Record]] = {
    "session_meta": TypeAdapter(SessionMeta),
    "compaction": TypeAdapter(Compaction),
    "message": TypeAdapter(MessageLine),
}


def read_record(value: Any) -> Record:
    """A record from the JSON value of a line. Raises RecordError."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        known = ", ".join(_KINDS)
        raise RecordError(f"a record is an object whose type is one of {known}")
    try:
        return _KINDS[kind].validate_python(value)
    except ValidationError as error:
        raise RecordError(_in_words(error)) from None


def read_older(value: Any) -> OlderSession:
    """A session of the older form. Raises RecordError."""
    try:
        return OlderSession.model_validate(value)
    except ValidationError as error:
        raise RecordError(_in_words(error)) from None


def print_record(record: Record) -> bytes:
    """The record as one line with its line end, UTF-8."""
    value = record.model_dump(exclude_none=True)
    try:
        return _line(value, escaped=False)
    except UnicodeEncodeError:
        # Half of a surrogate pair: only an escape can hold it.
        return _line(value, escaped=True)


def _line(value: Any, *, escaped: bool) -> bytes:
    return json.dumps(value, ensure_ascii=escaped, separators=(",", ":")).encode() + b"\n"


def _in_words(error: ValidationError) -> str:
    """The first complaint: where in the record, and what."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]
