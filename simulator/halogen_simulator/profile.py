"""What a server costs: how long its batches take and how many bytes a token holds.

A batch carries one token for each reply being decoded and a chunk of waiting prompt. Its time is
``step_s + row_s * replies`` when any reply is decoded, plus the chunk at the speed that a chunk of
its size reaches. Small chunks are slower a token: that is the batch effect of reading prompts.
"""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

PACKAGED = Path(__file__).parent / "fleet" / "profiles"
INSTANT = "instant"


class ProfileError(Exception):
    """A profile that cannot be used; the message is one line for the person who named it."""


@dataclass(frozen=True)
class Profile:
    """Times in seconds, speeds in tokens per second, memory in bytes."""

    name: str
    about: str
    """Where the figures come from."""
    prefill: tuple[tuple[int, float], ...]
    """(chunk in tokens, tokens/s) pairs, smallest chunk first; empty: reading takes no time."""
    step_s: float
    """A decoding batch, however few replies it serves."""
    row_s: float
    """And each reply in it."""
    bytes_per_token: int
    chunk_alone: int = 252
    """Prompt tokens in a batch when no reply is being decoded."""
    chunk_beside: int = 64
    """And when some are."""
    depth: int = 0
    """Tokens of the conversations it was measured with, 0 if not said: decoding gets slower with
    their length, and ``step_s`` and ``row_s`` hold about there."""

    @cached_property
    def instant(self) -> bool:
        """Whether nothing takes any time."""
        return not self.prefill and self.step_s == 0 and self.row_s == 0

    def read_s(self, chunk: int) -> float:
        """Seconds that reading a chunk of prompt adds to a batch."""
        if not self.prefill or chunk <= 0:
            return 0.0
        return chunk / self._speed(chunk)

    def decode_s(self, replies: int) -> float:
        """Seconds a batch takes for one token of each of ``replies``; 0 for none."""
        return self.step_s + self.row_s * replies if replies else 0.0

    def batch_s(self, replies: int, *, reading: bool) -> float:
        """Seconds of a batch that decodes ``replies`` and, if ``reading``, takes a full chunk."""
        chunk = (self.chunk_beside if replies else self.chunk_alone) if reading else 0
        return self.decode_s(replies) + self.read_s(chunk)

    def _speed(self, chunk: int) -> float:
        """Between two measured chunks the speed is interpolated, outside them it is the nearest."""
        (below, slow) = self.prefill[0]
        for size, speed in self.prefill:
            if chunk <= size:
                share = (chunk - below) / (size - below) if size > below else 0.0
                return slow + max(share, 0.0) * (speed - slow)
            below, slow = size, speed
        return slow


def dumps(profile: Profile) -> str:
    """The profile as JSON text, as :func:`loads` reads it."""
    return json.dumps(asdict(profile), indent=2) + "\n"


def loads(text: str, where: str) -> Profile:
    """Read a profile from JSON text; ``where`` names it in errors. Raises ProfileError."""
    try:
        fields = json.loads(text)
        pairs = [(int(chunk), float(speed)) for chunk, speed in fields.pop("prefill")]
        profile = Profile(prefill=tuple(pairs), **fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ProfileError(f"{where} is not a cost profile ({error})") from None
    numbers: list[object] = [
        profile.step_s,
        profile.row_s,
        profile.bytes_per_token,
        profile.chunk_alone - 1,
        profile.chunk_beside - 1,
        profile.depth,
    ]
    sound = all(isinstance(number, int | float) and number >= 0 for number in numbers)
    if not sound or any(chunk < 1 or speed <= 0 for chunk, speed in pairs):
        raise ProfileError(f"{where} is not a cost profile: speeds and sizes must be above 0")
    if pairs != sorted(pairs):
        raise ProfileError(f"{where} is not a cost profile: chunks must be in rising order")
    return profile


def packaged() -> list[str]:
    """Names of the profiles that come with the package."""
    return sorted(path.stem for path in PACKAGED.glob("*.json"))


def load(name: str) -> Profile:
    """A packaged profile by its name, or one from a JSON file by its path. Raises ProfileError."""
    path = PACKAGED / f"{name}.json" if name in packaged() else Path(name)
    try:
        text = path.read_text("utf-8")
    except OSError:
        known = ", ".join(packaged())
        raise ProfileError(
            f"no cost profile {name!r}: give a JSON file or one of {known}"
        ) from None
    return loads(text, str(path.name))
