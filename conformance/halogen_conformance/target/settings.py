"""The settings a group of tests needs: as environment for a command, as facts about a URL."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

GOVERNED = (
    "HALOGEN_FORK",
    "HALOGEN_FORK_TTL_S",
    "HALOGEN_FORK_HANDLES",
    "HALOGEN_FORK_MAP",
    "HALOGEN_CACHE_DIR",
    "HALOGEN_API_KEY",
)
"""Variables the suite sets or removes for every start. All others are inherited: the model, the
context size and the like are the user's business."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One way to run the server. A field left at None leaves its variable unset."""

    name: str
    fork: bool = True
    ttl_s: float | None = None
    handles: int | None = None
    keys: tuple[str, ...] = ()
    map: str | None = None
    cache_dir: Path | None = None
    wants_cache_dir: bool = False
    """A fresh directory is to be made for it unless ``cache_dir`` names one."""

    def environment(self) -> dict[str, str]:
        """The governed variables that are set; all others of them must be absent."""
        values = {
            "HALOGEN_FORK": "1" if self.fork else None,
            "HALOGEN_FORK_TTL_S": None if self.ttl_s is None else f"{self.ttl_s:g}",
            "HALOGEN_FORK_HANDLES": None if self.handles is None else str(self.handles),
            "HALOGEN_FORK_MAP": self.map,
            "HALOGEN_CACHE_DIR": None if self.cache_dir is None else str(self.cache_dir),
            "HALOGEN_API_KEY": ",".join(self.keys) or None,
        }
        return {name: value for name, value in values.items() if value is not None}

    def within(self, cache_dir: Path) -> "Settings":
        return replace(self, cache_dir=cache_dir)

    def slower(self, by_s: float) -> "Settings":
        """For a target whose answers come ``by_s`` seconds late: names live longer by some
        answers, or none could be looked at within its life."""
        if self.ttl_s is None or not by_s:
            return self
        return replace(self, ttl_s=self.ttl_s + _ANSWERS_IN_A_LIFE * by_s)


_ANSWERS_IN_A_LIFE = 6
"""So many answers, one after the other, a test may want while a name lives."""

KEYS = ("suite-key-alpha-5f1c", "suite-key-beta-9d27")
"""Two keys of the suite's own, for servers it starts itself. Nothing secret depends on them."""

GROUPS: dict[str, Settings] = {
    settings.name: settings
    for settings in (
        # Room for what one test keeps, and no more: each name that is held makes a server with a
        # real model slower.
        Settings("on", handles=8),
        # Nothing set but the switch: the documented defaults of 600 s and 8 names.
        Settings("default"),
        Settings("off", fork=False),
        Settings("ttl", ttl_s=2, handles=64),
        Settings("cap", handles=3),
        Settings("restart", handles=64, wants_cache_dir=True),
        Settings("restart-ttl", handles=64, ttl_s=6, wants_cache_dir=True),
        Settings("key", handles=64, keys=KEYS[:1]),
        Settings("keys", handles=64, keys=KEYS, map="claude-code"),
        Settings("map", handles=8, map="claude-code"),
        Settings("map-cap", handles=8, map="claude-code"),
        Settings("map-off", fork=False, map="claude-code"),
    )
}
"""Group name, as ``needs`` in the requirements table has it, to its settings."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user says about the target, because no test can see it from outside."""

    ttl_s: float | None = None
    handles: int | None = None
    key: str | None = None
    claude_code: bool = False
    deterministic: bool = False
    """Greedy replies are the same text every time: exact texts may be compared (FROM-6)."""
    slow_s: float = 0.0
    """Every answer may come this much later."""
    model: str = "default"


LONGEST_TTL_S = 60.0
"""A URL target with a longer life than this is not waited for."""

_NO_RESTART = "needs a server the suite starts itself: give a command after --"


def _ttl(declared: Declared) -> str:
    if declared.ttl_s is None:
        return "the target's TTL is not declared: add --ttl SECONDS"
    if declared.ttl_s > LONGEST_TTL_S:
        most = f"use {LONGEST_TTL_S:g} s at most"
        return f"a TTL of {declared.ttl_s:g} s is too long to wait for: {most}"
    return ""


URL_NEEDS: dict[str, Callable[[Declared], str]] = {
    "on": lambda _: "",
    "ttl": _ttl,
    "cap": lambda d: "" if d.handles else "the target's cap is not declared: add --handles N",
    "key": lambda d: "" if d.key else "the target's key is not declared: add --key KEY",
    "map": lambda d: "" if d.claude_code else "not declared: add --claude-code if it has the map",
}
"""Group to why a URL target cannot show it (empty: it can). Groups not named need a restart."""


def missing_for_url(group: str, declared: Declared) -> str:
    """Why a URL target does not offer a group, in words for the report; empty when it does."""
    if group not in GROUPS:
        raise KeyError(f"no settings group is called {group!r}")
    reason = URL_NEEDS.get(group)
    return _NO_RESTART if reason is None else reason(declared)
