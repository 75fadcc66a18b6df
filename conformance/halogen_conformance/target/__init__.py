"""The server under test: one that runs somewhere, or one the suite starts itself."""

from halogen_conformance.target.command import CommandTarget, Server
from halogen_conformance.target.errors import TargetError, Trouble
from halogen_conformance.target.settings import GROUPS, Declared, Settings
from halogen_conformance.target.target import Offer, Target
from halogen_conformance.target.url import UrlTarget

__all__ = [
    "GROUPS",
    "CommandTarget",
    "Declared",
    "Offer",
    "Server",
    "Settings",
    "Target",
    "TargetError",
    "Trouble",
    "UrlTarget",
]
