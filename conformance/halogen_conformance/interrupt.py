"""Being told to end: what a SIGTERM does to a command that has started processes of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_politely() -> Iterator[None]:
    """Let a SIGTERM (a cancelled CI job) end the block as Ctrl-C does, with a KeyboardInterrupt:
    no server is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
