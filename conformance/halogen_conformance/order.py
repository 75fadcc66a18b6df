"""One run as it was ordered: the target, facts nobody can see from outside, choices."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass

from halogen_conformance.events import Pairs
from halogen_conformance.target import Declared


@dataclass(frozen=True, slots=True)
class Order:
    """What to check and how. Exactly one of `url` and `command` is set.

    `ttl` (seconds) and `handles` are the settings of a server at a URL; None if not told.
    `slow` is how many seconds an answer of this server may take longer than usual.
    """

    url: str = ""
    command: tuple[str, ...] = ()
    ttl: float | None = None
    handles: int | None = None
    key: str = ""
    model: str = ""
    claude_code: bool = False
    deterministic: bool = False
    slow: float = 0.0
    fuzz: bool = True
    seed: int = 0
    shuffle: bool = False
    only: tuple[str, ...] = ()
    report: str = ""
    baseline: str = ""

    @property
    def target(self) -> str:
        """The target in words."""
        return self.url or shlex.join(self.command)

    @property
    def declared(self) -> Declared:
        """The part that describes the target."""
        return Declared(
            ttl_s=self.ttl,
            handles=self.handles,
            key=self.key or None,
            claude_code=self.claude_code,
            deterministic=self.deterministic,
            slow_s=self.slow,
            model=self.model or Declared().model,
        )

    @property
    def facts(self) -> Pairs:
        """What was declared, for the report; the key itself is never part of it."""
        rows = (
            ("ttl", f"{self.ttl:g} s" if self.ttl is not None else ""),
            ("handles", str(self.handles) if self.handles is not None else ""),
            ("key", "given" if self.key else ""),
            ("model", self.model),
            ("claude-code", "yes" if self.claude_code else ""),
            ("deterministic", "yes" if self.deterministic else ""),
            ("slow", f"{self.slow:g} s" if self.slow else ""),
            ("fuzz", "" if self.fuzz else "left out"),
        )
        return tuple((name, value) for name, value in rows if value)

    def to_option(self) -> str:
        """As one word, to hand it to pytest and its workers."""
        return json.dumps(asdict(self))

    @classmethod
    def from_option(cls, text: str) -> Order:
        """The reverse of `to_option`."""
        data = json.loads(text)
        return cls(**data | {"command": tuple(data["command"]), "only": tuple(data["only"])})
