"""The clock by which names expire: the real one, and a little further when a test turns it."""

import time


class Clock:
    """Unix seconds."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s

    def advance(self, seconds: float) -> float:
        """Turn it forward; returns the new time. Raises ValueError for a way back: names would
        come to life again."""
        if not 0 <= seconds < float("inf"):
            raise ValueError("a clock only goes forward")
        self.ahead_s += seconds
        return self()
