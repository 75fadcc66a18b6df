"""The file of a kept conversation: one name, whole and checked, or not at all (RESTART-3).

Layout: a mark, the header's length, the header as JSON (what the name means), the engine's bytes,
and a digest of all before it.
"""

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from halogen_reference.conversation import (
    Assistant,
    Conversation,
    Item,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
)
from halogen_reference.prompt import Seam
from halogen_reference.sessions.kept import Position

_MARK = b"HALOGEN1"
_LENGTH = struct.Struct("<Q")
_DIGEST_BYTES = 32


class NotWhole(Exception):
    """The file is damaged, foreign, or of another model; it must not be used."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a file says besides the engine's bytes. Times are Unix seconds."""

    fingerprint: str
    """Of the engine that made the bytes: model and settings."""
    name: str
    parent: str | None
    source: str
    owner: str | None
    created_at: float
    size: int
    """Bytes of memory the state takes."""
    tokens: list[int]
    seams: dict[Seam, Position]
    conversation: Conversation


def private(path: Path) -> BinaryIO:
    """A new file that only its owner may read, in the place of whatever lies there: a file or a
    link that somebody else put there would decide who reads what we write. Raises OSError."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def write(path: Path, record: Record, data: bytes | bytearray) -> None:
    """Write beside and rename: whoever reads sees the old file or the new one, never a part
    (RESTART-4). Raises OSError."""
    header = json.dumps(_to_json(record), ensure_ascii=False).encode()
    parts = [_MARK, _LENGTH.pack(len(header)), header, data]
    digest = blake2b(digest_size=_DIGEST_BYTES)
    beside = path.with_suffix(".part")
    with private(beside) as file:
        for part in parts:
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def read(path: Path, fingerprint: str) -> tuple[Record, bytes]:
    """The record and the engine's bytes. Raises NotWhole, also when the file is gone."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotWhole(f"{path.name} cannot be read: {error.strerror}") from None
    body, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    start = len(_MARK) + _LENGTH.size
    if len(body) < start or not body.startswith(_MARK):
        raise NotWhole(f"{path.name} is no kept conversation")
    if blake2b(body, digest_size=_DIGEST_BYTES).digest() != digest:
        raise NotWhole(f"{path.name} is damaged")
    (length,) = _LENGTH.unpack(body[len(_MARK) : start])
    try:
        record = _from_json(json.loads(body[start : start + length]))
    except (ValueError, KeyError, TypeError) as error:
        raise NotWhole(f"{path.name} cannot be understood: {error}") from None
    if record.fingerprint != fingerprint:
        raise NotWhole(f"{path.name} was made by another model or with other settings")
    return record, body[start + length :]


def _to_json(record: Record) -> dict[str, object]:
    plain = {
        name: getattr(record, name)
        for name in Record.__slots__
        if name not in ("seams", "conversation")
    }
    items = [{"kind": type(item).__name__, **asdict(item)} for item in record.conversation.items]
    tools = [asdict(tool) for tool in record.conversation.tools]
    seams = [[*seam, *position] for seam, position in record.seams.items()]
    return {**plain, "seams": seams, "items": items, "tools": tools}


def _from_json(value: dict[str, Any]) -> Record:
    items = tuple(_item(item) for item in value.pop("items"))
    tools = tuple(Tool(**tool) for tool in value.pop("tools"))
    seams = {
        Seam(item, bool(end)): Position(at, counted)
        for item, end, at, counted in value.pop("seams")
    }
    return Record(**value, seams=seams, conversation=Conversation(items, tools))


_KINDS: Mapping[str, type[Item]] = {
    kind.__name__: kind for kind in (System, User, Assistant, ToolResult)
}


def _item(value: dict[str, Any]) -> Item:
    kind = _KINDS[value.pop("kind")]
    if "calls" in value:
        value["calls"] = tuple(ToolCall(**call) for call in value["calls"])
    return kind(**value)
