"""Takes out of a request all that is somebody's: texts, keys, ids.

What is kept is its form: keys, types, roles, numbers, and the names of tools and of their
arguments. Equal texts and ids stay equal and different ones different, so threads and histories can
still be told apart.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from halogen_simulator.traffic.placeholders import standing_for
from halogen_simulator.traffic.recording import call_mark, text_mark
from halogen_simulator.traffic.replies import Said

_KEPT_HEADERS = frozenset(
    {
        *("content-type", "user-agent", "anthropic-version", "anthropic-beta", "x-app"),
        *("x-claude-code-request-class", "x-claude-code-agent-type", "x-claude-code-compaction"),
        *("originator", "x-halogen-from", "x-halogen-keep"),
    }
)
"""Passed on as they are; every other header is masked below or left out."""

_MASKED_HEADERS = {
    "x-api-key": "key",
    "authorization": "key",
    "x-claude-code-session-id": "session",
    "x-claude-code-agent-id": "agent",
    "x-claude-code-parent-agent-id": "agent",
    "x-claude-code-prompt-id": "prompt",
    "session-id": "session",
    "thread-id": "session",
}
_FORMS = {
    "key": "sk-example-key-{}",
    "session": "00000000-0000-4000-8000-{:012d}",
    "agent": "agent-{:04d}",
    "prompt": "prompt-{:04d}",
    "call": "toolu_x{:04d}",
    "id": "id-{:04d}",
}

# Values that are form, not content.
_KEPT_FIELDS = frozenset(
    {
        *("type", "role", "model", "status", "phase", "effort", "display", "keep", "ttl"),
        *("tool_choice", "include", "summary", "verbosity", "service_tier", "$ref"),
    }
)
_IDS = {"tool_use_id": "call", "call_id": "call", "id": "id", "prompt_cache_key": "session"}
_PICTURES = frozenset({"image", "document", "input_image", "input_file"})
_ATTRIBUTION = "x-anthropic-billing-header:"
_OWN_WORDS = re.compile(r"(cc_version|cc_entrypoint|cc_is_subagent|cch)=([\w.+-]*);?")
_SUFFIX = re.compile(r"(\d+\.\d+\.\d+)\.(\w+)")
_OLD_USER_ID = re.compile(r"user_.*_session_(?P<session>[0-9a-fA-F-]{36})")
_WORD = re.compile(r"[\w.:/#$\[\]-]{1,64}")


@dataclass
class Masks:
    """The masks of one recording. ``salt`` is kept secret and thrown away: without it nobody can
    try whether a placeholder stands for a text they guess."""

    salt: bytes
    _numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    _replies: dict[str, set[int]] = field(default_factory=dict)
    """The text of a reply to the requests it answered."""
    _calls: dict[str, str] = field(default_factory=dict)
    """The id of a reply's tool call to what it is called here."""

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers that matter, in lower case."""
        found = {}
        for name, value in headers.items():
            name = name.lower()
            if name in _KEPT_HEADERS:
                found[name] = value
            elif name in _MASKED_HEADERS:
                scheme = "Bearer " if value.startswith("Bearer ") else ""
                secret = value.removeprefix(scheme)
                found[name] = scheme + self._numbered(_MASKED_HEADERS[name], secret)
        return found

    def body(self, body: Any) -> Any:
        """A JSON value, masked."""
        return self._value(body, "", "")

    def reply(self, n: int, said: Said) -> list[dict[str, Any]]:
        """Note the reply to request ``n``, so that it is marked wherever it is repeated. Returns
        its masked content."""
        for block in said.content:
            if block["type"] == "text":
                self._replies.setdefault(block["text"], set()).add(n)
        for k, call in enumerate(said.calls, start=1):
            self._calls[call] = call_mark(n, k)
        masked: list[dict[str, Any]] = self.body(said.content)
        return masked

    def _value(self, value: Any, name: str, role: str) -> Any:
        if isinstance(value, str):
            return self._string(value, name, role)
        if isinstance(value, list):
            return [self._value(item, name, role) for item in value]
        if isinstance(value, dict):
            return self._object(value, name, role)
        return value

    def _object(self, value: dict[str, Any], name: str, role: str) -> dict[str, Any]:
        if value.get("type") in _PICTURES:
            size = len(json.dumps(value))
            return {"type": "text", "text": f"[{value['type']} of {size} characters]"}
        role = str(value.get("role", role))
        special: dict[str, Callable[[dict[str, Any]], Any]] = {
            "metadata": self._metadata,
            "input": self._content,
            "properties": self._schemas,
            "client_metadata": self._content,
        }
        return {
            key: special[key](inner)
            if key in special and isinstance(inner, dict)
            else self._value(inner, key, role)
            for key, inner in value.items()
        }

    def _schemas(self, properties: dict[str, Any]) -> dict[str, Any]:
        """Arguments may have any name, ``type`` and ``role`` included."""
        return {name: self._value(schema, "", "") for name, schema in properties.items()}

    def _content(self, value: dict[str, Any]) -> dict[str, Any]:
        """An object whose keys are nobody's form: all its texts are masked."""
        return {name: self._all_text(inner) for name, inner in value.items()}

    def _all_text(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._all_text(item) for item in value]
        return self._content(value) if isinstance(value, dict) else value

    def _metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        masked = self._content(metadata)
        user_id = metadata.get("user_id")
        if isinstance(user_id, str):
            masked["user_id"] = self._user_id(user_id)
        return masked

    def _user_id(self, user_id: str) -> str:
        """Both forms have the session in them."""
        if old := _OLD_USER_ID.fullmatch(user_id):
            session = self._numbered("session", old["session"])
            return f"user_{'d' * 64}_account__session_{session}"
        try:
            parts = json.loads(user_id)
            session = parts["session_id"]
        except (ValueError, TypeError, KeyError):
            return self._text(user_id)
        masked = {name: "d" * 64 if name == "device_id" else "" for name in parts}
        masked["session_id"] = self._numbered("session", str(session))
        return json.dumps(masked, separators=(",", ":"))

    def _string(self, value: str, name: str, role: str) -> str:
        if name in _IDS:
            known = self._calls.get(value)
            kind = "call" if value.startswith(("toolu_", "call_")) else _IDS[name]
            return known or self._numbered(kind, value)
        if name in ("name", "required") or (name in _KEPT_FIELDS and _WORD.fullmatch(value)):
            return value
        if name == "arguments":
            return self._arguments(value)
        if value.startswith(_ATTRIBUTION):
            return self._attribution(value)
        return self._text(value, role)

    def _text(self, value: str, role: str = "") -> str:
        if not value:
            return value
        words = standing_for(value, self.salt)
        said_by = self._replies.get(value, ()) if role == "assistant" else ()
        # Where several replies were alike, its place in the history tells which one it is.
        return text_mark(min(said_by), words) if len(said_by) == 1 else words

    def _arguments(self, value: str) -> str:
        """Of a call on Responses: JSON in a text."""
        try:
            return json.dumps(self._all_text(json.loads(value)))
        except ValueError:
            return self._text(value)

    def _attribution(self, value: str) -> str:
        """The line stays, since servers know it by its form (MAP-7); fingerprints are replaced."""
        line, _, rest = value.partition("\n")
        parts = []
        for name, word in _OWN_WORDS.findall(line):
            if name == "cch":
                word = self._hex(word)
            if name == "cc_version" and (found := _SUFFIX.fullmatch(word)):
                word = f"{found[1]}.{self._hex(found[2])}"
            parts.append(f"{name}={word};")
        masked = " ".join([_ATTRIBUTION, *parts])
        return f"{masked}\n{self._text(rest)}" if rest else masked

    def _hex(self, word: str) -> str:
        return standing_for(word, self.salt)[: len(word)]

    def _numbered(self, kind: str, value: str) -> str:
        numbers = self._numbers.setdefault(kind, {})
        return _FORMS[kind].format(numbers.setdefault(value, len(numbers) + 1))
