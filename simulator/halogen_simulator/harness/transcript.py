"""A transcript: the messages of one session and where they come from, and its files' text."""

import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from halogen_simulator.harness.record import (
    Compaction,
    Fork,
    Message,
    MessageLine,
    RecordError,
    SessionMeta,
    Text,
    print_record,
    read_older,
    read_record,
)


class TranscriptError(Exception):
    """A transcript that cannot be used; the message names the file and, if it can, the line."""


def now_ms() -> int:
    """The time now, in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """An id of this millisecond and 64 random bits: no two processes make the same one, and
    nobody guesses it, so that it also serves as the name of a kept state."""
    return f"session-{now_ms()}-{secrets.token_hex(8)}"


@dataclass(slots=True)
class Transcript:
    """A session as it is written down. Times are milliseconds since 1970, UTC."""

    session_id: str
    created_at_ms: int
    updated_at_ms: int
    messages: list[Message] = field(default_factory=list)
    compaction: Compaction | None = None
    fork: Fork | None = None

    @classmethod
    def new(cls) -> "Transcript":
        now = now_ms()
        return cls(new_id(), now, now)

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self.updated_at_ms = now_ms()

    def forked(self, branch_name: str | None = None) -> "Transcript":
        """A session of its own with the same messages, sharing no object with this one."""
        now = now_ms()
        return Transcript(
            new_id(),
            now,
            now,
            [message.model_copy(deep=True) for message in self.messages],
            self.compaction.model_copy(deep=True) if self.compaction else None,
            Fork(parent_session_id=self.session_id, branch_name=branch_name),
        )

    def compact(self, summary: str, removed: int) -> None:
        """Replace the first ``removed`` messages by a summary."""
        count = self.compaction.count + 1 if self.compaction else 1
        self.compaction = Compaction(count=count, removed_message_count=removed, summary=summary)
        head = Message(role="system", blocks=(Text(text=f"Summary of what was said: {summary}"),))
        self.messages = [head, *self.messages[removed:]]
        self.updated_at_ms = now_ms()

    def printed(self) -> bytes:
        """The whole session as lines."""
        meta = SessionMeta(
            session_id=self.session_id,
            created_at_ms=self.created_at_ms,
            updated_at_ms=self.updated_at_ms,
            fork=self.fork,
        )
        lines = [print_record(meta)]
        if self.compaction:
            lines.append(print_record(self.compaction))
        lines += [print_record(MessageLine(message=message)) for message in self.messages]
        return b"".join(lines)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file holds. ``warnings`` name each line that was skipped."""

    transcript: Transcript
    warnings: tuple[str, ...] = ()
    older_form: bool = False


def parse(data: bytes, name: str, session_id: str) -> Loaded:
    """Read a file's bytes. ``name`` is what messages call the file; ``session_id`` stands in when
    the file does not tell its own.

    A line that is not JSON (torn by a crash or a full disk) is skipped with a warning. Raises
    TranscriptError for a line that is JSON but no record, and when nothing can be read at all.
    """
    whole = _one_object(data)
    if whole is not None:
        return Loaded(_from_older(whole, name, session_id), older_form=True)
    now = now_ms()
    found = Transcript(session_id, now, now)
    warnings: list[str] = []
    records = 0
    named = False
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested without end
            warnings.append(f"{name}, line {number}: not a whole record; it is skipped")
            continue
        try:
            record = read_record(value)
        except RecordError as error:
            raise TranscriptError(f"{name}, line {number}: {error}") from None
        records += 1
        if isinstance(record, MessageLine):
            found.messages.append(record.message)
        elif isinstance(record, Compaction):
            found.compaction = record
        else:
            named = True
            found.session_id = record.session_id
            found.created_at_ms = record.created_at_ms
            found.updated_at_ms = record.updated_at_ms
            found.fork = record.fork
    if not records:
        raise TranscriptError(f"{name}: there is no record in it that can be read")
    if not named:
        warnings.append(f"{name}: no session_meta line; the session is called {session_id}")
    return Loaded(found, tuple(warnings))


def _one_object(data: bytes) -> dict[str, Any] | None:
    """The value of a file of the older form. A file of one line is no such file: records have a
    type."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "type" not in value else None


def _from_older(value: dict[str, Any], name: str, session_id: str) -> Transcript:
    try:
        read = read_older(value)
    except RecordError as error:
        raise TranscriptError(f"{name}: {error}") from None
    now = now_ms()
    created = now if read.created_at_ms is None else read.created_at_ms
    updated = created if read.updated_at_ms is None else read.updated_at_ms
    messages, named = list(read.messages), read.session_id or session_id
    return Transcript(named, created, updated, messages, read.compaction, read.fork)
