"""What tests see of a target, whichever kind it is."""

from dataclasses import dataclass
from typing import Protocol

from halogen_conformance.target.settings import Declared


@dataclass(frozen=True, slots=True)
class Offer:
    """Whether a target can show a settings group. Without one, ``reason`` says why not (N/A)."""

    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


class Running(Protocol):
    """A server that runs now. ``base_url`` may change when it is started again: do not keep it."""

    @property
    def base_url(self) -> str: ...

    @property
    def key(self) -> str | None:
        """The key a client must send, if any."""
        ...

    @property
    def ttl_s(self) -> float | None:
        """How long an unused name lives, as far as is known."""
        ...

    @property
    def handles(self) -> int | None:
        """The cap on live names, as far as is known."""
        ...

    def check_alive(self) -> None:
        """Raises TargetError when it is certain that the server is gone."""
        ...


class Target(Protocol):
    """The server under test."""

    @property
    def declared(self) -> Declared: ...

    @property
    def description(self) -> str:
        """For the head of reports: the URL, or the command line."""
        ...

    def offers(self, group: str) -> Offer: ...

    def running(self, group: str) -> Running:
        """A server with the settings of this group, started if need be and shared by all tests
        of the group. Raises TargetError."""
        ...

    def close(self) -> None:
        """End everything that was started."""
        ...
