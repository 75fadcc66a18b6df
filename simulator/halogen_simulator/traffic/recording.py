"""The file form of traffic: one request a line, texts replaced, replies marked.

A line is a JSON object: ``n`` (the request's number), ``method``, ``path``, ``headers`` (names in
lower case), ``body`` and, where it is known, ``answer``: what the server said then.

A reply that a later request repeats is marked with the number of the request it answered: its text
begins ``reply-<n>:``, its tool calls have ids ``toolu_<n>_<k>``. Whoever plays the traffic puts the
server's own reply there.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

Json = Any
Message = dict[str, Any]

MESSAGES_PATH = "/v1/messages"
COUNT_PATH = "/v1/messages/count_tokens"
RESPONSES_PATH = "/v1/responses"

SESSION = "x-claude-code-session-id"
AGENT = "x-claude-code-agent-id"
PARENT = "x-claude-code-parent-agent-id"
HINT = "x-claude-code-request-class"
HINTS = frozenset({HINT, "x-claude-code-agent-type", "x-claude-code-compaction"})
"""Sent only when the client was told to; nothing may depend on them."""

_OLD_USER_ID = re.compile(r"user_.*_session_(?P<session>[0-9a-fA-F-]{36})")
_TEXT_MARK = re.compile(r"reply-(\d+): ?")
_CALL_MARK = re.compile(r"toolu_(\d+)_(\d+)")


class RecordingError(Exception):
    """A file that holds no traffic; the message is one line for its reader."""


@dataclass(frozen=True, slots=True)
class Thread:
    """Whose request it is: API key, session, and the subagent's id (None: the main one)."""

    key: str
    session: str
    agent: str | None

    @property
    def label(self) -> str:
        """For people: the ends of the ids, since examples are alike at their beginnings."""
        return f"{self.session[-4:]}/{self.agent[-10:] if self.agent else 'main'}"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request."""

    n: int
    method: str
    path: str
    headers: dict[str, str]
    body: Json = None
    answer: Json = field(default=None, compare=False)
    """``status``, ``outcome``, ``prompt``, ``cost``, ``output`` (tokens), as far as known."""

    @property
    def route(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    @property
    def messages(self) -> list[Message]:
        found = self.body.get("messages") if isinstance(self.body, dict) else None
        return found if isinstance(found, list) else []

    @property
    def thread(self) -> Thread:
        headers = self.headers
        key = headers.get("x-api-key") or headers.get("authorization", "")
        session = headers.get(SESSION) or _session_in(self.body) or headers.get("session-id", "")
        return Thread(key, session, headers.get(AGENT))

    def line(self) -> str:
        """The record as it stands in a file."""
        record = {
            "n": self.n,
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "body": self.body,
        }
        if self.answer is not None:
            record["answer"] = self.answer
        return json.dumps(record, ensure_ascii=False) + "\n"


def text_mark(n: int, words: str) -> str:
    """The text of a reply to request ``n``."""
    return f"reply-{n}: {words}"


def without_mark(text: str) -> str:
    """A text without the mark of a reply."""
    return _TEXT_MARK.sub("", text, count=1) if _TEXT_MARK.match(text) else text


def call_mark(n: int, k: int) -> str:
    """The id of the ``k``-th call (from 1) of the reply to request ``n``."""
    return f"toolu_{n:04d}_{k}"


def marked(block: Json) -> int | None:
    """The number of the request whose reply a block is part of, when it says so itself."""
    if not isinstance(block, dict):
        return None
    if found := _TEXT_MARK.match(str(block.get("text", ""))):
        return int(found[1])
    if block.get("type") == "tool_use" and (call := call_marked(block.get("id"))):
        return call[0]
    return None


def call_marked(id: Json) -> tuple[int, int] | None:
    """The request and the place that a :func:`call_mark` names; None for another id."""
    found = _CALL_MARK.fullmatch(str(id))
    return (int(found[1]), int(found[2])) if found else None


def blocks(content: Json) -> list[dict[str, Any]]:
    """A message's content as blocks, however it is spelled."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content if isinstance(block, dict)] if content else []


def parse(lines: Iterable[str], name: str) -> list[Recorded]:
    """Requests in the order of their numbers. Raises RecordingError, which names the line."""
    return sorted(_parse(lines, name), key=lambda record: record.n)


def load(name: str) -> list[Recorded]:
    """A file's requests; ``name`` is a path or one of :func:`packaged`. Raises RecordingError."""
    path = Path(name)
    inside = resources.files(__package__) / "recordings" / f"{name}.jsonl"
    if not path.exists() and "/" not in name and inside.is_file():
        return parse(inside.read_text("utf-8").splitlines(), name)
    try:
        return parse(path.read_text("utf-8").splitlines(), name)
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(packaged())
        raise RecordingError(f"cannot read {name} ({error}); there are also: {known}") from None


def packaged() -> list[str]:
    """Names of the recordings that come with the simulator."""
    folder = resources.files(__package__) / "recordings"
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))


def _parse(lines: Iterable[str], name: str) -> Iterator[Recorded]:
    seen: set[int] = set()
    for at, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            n, headers = value["n"], value["headers"]
            if type(n) is not int or n in seen:
                raise ValueError(f"'n' must be a whole number of its own, not {n!r}")
            if not all(isinstance(value[part], str) for part in ("method", "path")):
                raise ValueError("'method' and 'path' must be texts")
            lower = {str(key).lower(): str(text) for key, text in headers.items()}
        except KeyError as error:
            raise RecordingError(f"{name}, line {at}: {error} is missing") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise RecordingError(f"{name}, line {at} is no recorded request: {error}") from None
        seen.add(n)
        yield Recorded(
            n, value["method"], value["path"], lower, value.get("body"), value.get("answer")
        )


def _session_in(body: Json) -> str:
    """The session in ``metadata.user_id``: a JSON text, or one long word in older clients."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    user_id = metadata.get("user_id") if isinstance(metadata, dict) else None
    if not isinstance(user_id, str):
        return ""
    if old := _OLD_USER_ID.fullmatch(user_id):
        return old["session"]
    try:
        value = json.loads(user_id)
    except ValueError:
        return ""
    session = value.get("session_id") if isinstance(value, dict) else None
    return session if isinstance(session, str) else ""
