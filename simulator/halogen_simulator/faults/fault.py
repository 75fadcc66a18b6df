"""What a fault is: one deliberate mistake, made at one seam of a server that is right otherwise."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp

from halogen_reference.server import Server
from halogen_reference.settings import Settings


@dataclass(frozen=True, slots=True)
class Fault:
    """``breaks`` are the requirements it breaks, the one it is made for first.

    Each of the three hooks is one seam: the settings before the server is built, the built server
    (whose parts are replaced by subclasses), the application around it.
    """

    id: str
    breaks: tuple[str, ...]
    sentence: str
    settings: Callable[[Settings], Settings] | None = None
    server: Callable[[Server], None] | None = None
    app: Callable[[ASGIApp, Server], ASGIApp] | None = None
