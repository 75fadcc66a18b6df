"""Where the events of a run go: to a file, line by line, and to whoever shows them live."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from halogen_conformance.events import Event
from halogen_conformance.mask import Mask
from halogen_conformance.stream import to_line

Listener = Callable[[Event], None]


class EventLog:
    """Keeps all events, masked, in order; the file is whole up to the last event at any time."""

    def __init__(self, path: Path | None, mask: Mask, listeners: Sequence[Listener] = ()) -> None:
        """Raises OSError if the file cannot be written."""
        self.events: list[Event] = []
        self._mask = mask
        self._listeners = tuple(listeners)
        self._lock = threading.Lock()
        self._file: TextIO | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="ascii", newline="\n")

    def emit(self, event: Event) -> None:
        """Record one event and tell the listeners."""
        masked = self._mask.event(event)
        with self._lock:
            self.events.append(masked)
            if self._file is not None:
                self._file.write(to_line(masked) + "\n")
                self._file.flush()
            for listener in self._listeners:
                listener(masked)

    def close(self) -> None:
        """Close the file; emitting afterwards still reaches the listeners."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
