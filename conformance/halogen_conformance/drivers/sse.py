"""Server-sent events, read incrementally: bytes in, events out.

Follows the event-stream format of the HTML standard with two deliberate differences, both
because real SDKs are less forgiving than browsers: an event with fields but without data is
delivered (``data is None``) so that it can be reported, and broken UTF-8 is flagged.
"""

import codecs
import re
from dataclasses import dataclass, field

_LINE_END = re.compile(r"\r\n|\r|\n")
_FIELDS = frozenset({"data", "event", "id", "retry"})

MAX_EVENT_CHARS = 16 * 1024 * 1024
"""A line or event longer than this is given up on; nothing legal comes near it."""


class SseError(ValueError):
    """The bytes cannot be read as events at all (an endless line)."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event, or a comment (``comment`` set, everything else None)."""

    data: str | None = None
    name: str | None = None
    id: str | None = None
    retry: str | None = None
    comment: str | None = None
    odd_lines: tuple[str, ...] = ()
    """Lines that are no field of the format, e.g. a bare JSON error."""

    @property
    def is_done(self) -> bool:
        return self.data is not None and self.data.strip() == "[DONE]"


@dataclass(slots=True)
class SseParser:
    """``feed`` bytes cut anywhere, ``close`` at the end; both return the events completed."""

    bad_utf8: bool = False
    """Set once bytes were not UTF-8 (they are read as U+FFFD)."""
    torn: str | None = None
    """After ``close``: text of an event that the stream's end cut off, or None."""
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("strict")
    )
    _line: list[str] = field(default_factory=list)
    _line_chars: int = 0
    _after_cr: bool = False
    _first: bool = True
    _fields: list[tuple[str, str]] = field(default_factory=list)
    _field_chars: int = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Raises SseError when a line or an event grows beyond all bounds."""
        return self._text(self._decode(chunk, final=False))

    def close(self) -> list[SseEvent]:
        """End of stream. A last event without its empty line is not delivered but ``torn``."""
        events = self._text(self._decode(b"", final=True))
        rest = "".join(self._line)
        if rest or self._fields:
            lines = [f"{name}: {value}" for name, value in self._fields]
            self.torn = "\n".join([*lines, rest] if rest else lines)
        return events

    def _decode(self, chunk: bytes, *, final: bool) -> str:
        try:
            return self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            # Start over leniently: pending bytes of the strict decoder are part of the breach.
            pending, _ = self._decoder.getstate()
            self.bad_utf8 = True
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            return self._decoder.decode(pending + chunk, final)

    def _text(self, text: str) -> list[SseEvent]:
        if self._first and text:
            text = text.removeprefix("\ufeff")
            self._first = False
        if self._after_cr and text.startswith("\n"):
            text = text[1:]  # the second half of a CR LF pair ends no further line
            self._after_cr = False
        if not text:
            return []
        self._after_cr = text.endswith("\r")
        head, *lines = _LINE_END.split(text)
        self._line.append(head)
        self._line_chars += len(head)
        events: list[SseEvent] = []
        for line in lines:
            events.extend(self._end_line())
            self._line.append(line)
            self._line_chars = len(line)
        if self._line_chars + self._field_chars > MAX_EVENT_CHARS:
            raise SseError(f"an event of more than {MAX_EVENT_CHARS} characters never ended")
        return events

    def _end_line(self) -> list[SseEvent]:
        line = "".join(self._line)
        self._line.clear()
        self._line_chars = 0
        if not line:
            fields, self._fields = self._fields, []
            self._field_chars = 0
            return [_event(fields)] if fields else []
        if line.startswith(":"):
            return [SseEvent(comment=line[1:].removeprefix(" "))]
        name, _, value = line.partition(":")
        self._fields.append((name, value.removeprefix(" ")) if name in _FIELDS else ("", line))
        self._field_chars += len(line)
        return []


def _event(fields: list[tuple[str, str]]) -> SseEvent:
    data = [value for name, value in fields if name == "data"]
    last = dict(fields)
    return SseEvent(
        data="\n".join(data) if data else None,
        name=last.get("event") or None,
        id=last.get("id"),
        retry=last.get("retry"),
        odd_lines=tuple(value for name, value in fields if name == ""),
    )
