"""When the parts of an answer came."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Timing:
    """Seconds since the request began to be sent; None for what never came."""

    headers: float | None = None
    pieces: list[float] = field(default_factory=list)
    """When each piece of the reply arrived."""
    end: float = 0.0

    @property
    def ttft(self) -> float | None:
        """Time to the first piece of the reply."""
        return self.pieces[0] if self.pieces else None

    @property
    def gaps(self) -> list[float]:
        """From each piece to the next."""
        return [b - a for a, b in zip(self.pieces, self.pieces[1:], strict=False)]
