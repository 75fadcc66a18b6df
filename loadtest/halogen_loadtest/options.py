"""The options of a run, in one table: the command line and Locust's own parser are made from it.

Locust sends the values a master was started with to all of its workers, so every value is a
number, a text or a truth value.
"""

import argparse
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Protocol

ROUTES = ("chat", "messages", "responses", "all")
SENTENCES = {
    "fan-out": "keep a conversation, fork it many times at once, join two branches under one name",
    "conversation": "long turns one after the other, with edits, refusals and branches between",
    "claude-code": "sessions with subagents and side requests (HALOGEN_FORK_MAP=claude-code)",
    "churn": "more names than the server holds",
    "abort": "many clients leave in the middle of a reply, one stays",
}
SCENARIOS = tuple(SENTENCES)
SHAPES = ("closed", "open", "ramp", "spike", "soak")


def _option(default: Any, text: str, *, takes: str = "N", **more: Any) -> Any:
    return field(default=default, metadata={"text": text, "takes": takes, **more})


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run does and what it demands. Times in seconds, shares from 0 to 1."""

    scenario: str = _option("fan-out", "what each user does", choices=SCENARIOS, group="load")
    shape: str = _option("closed", "how the load goes over time", choices=SHAPES, group="load")
    arrivals: float = _option(
        1.0, "with --shape open: iterations begun a second, all users together", group="load"
    )
    most_open: int = _option(
        500, "with --shape open: iterations at once; more are counted as dropped", group="load"
    )
    iterations: int = _option(
        0, "each user stops after so many iterations (0: when the time is over)", group="load"
    )
    think: float = _option(
        0.0, "seconds a user waits between iterations (0)", group="load", takes="S"
    )
    compare: bool = _option(
        False, "half of the time with sessions, half of it the same without", group="load"
    )
    forks: int = _option(8, "forks at once (also subagents, and replies left)", group="talk")
    depth: int = _option(4, "turns of a history, and of a conversation", group="talk")
    history_tokens: int = _option(400, "about how many tokens a history begins with", group="talk")
    reply_tokens: int = _option(32, "the most tokens of a reply", group="talk")
    names: int = _option(
        0, "churn: names a user has (0: all users together twice the cap)", group="talk"
    )
    leave_after: int = _option(2, "abort: events after which a client leaves", group="talk")
    route: str = _option("all", "the API spoken; all: user by user", choices=ROUTES, group="talk")
    model: str = _option("default", "the model to ask for", group="talk", takes="NAME")
    seed: int = _option(1, "another seed has other texts", group="talk")
    idle_limit: float = _option(
        60.0, "seconds of the server's longest silence", group="talk", takes="S"
    )
    reply_limit: float = _option(180.0, "seconds of the longest exchange", group="talk", takes="S")
    deterministic: bool = _option(
        False, "equal requests have equal replies: twins must agree to the letter", group="judge"
    )
    twins: float = _option(
        0.05,
        "share, 0 to 1, of answers that are asked again without headers, to compare",
        group="judge",
        takes="SHARE",
    )
    handles: int = _option(
        0, "the most names the server holds (0: what its list says, or 8)", group="judge"
    )
    ttl: float = _option(
        0.0,
        "seconds after which it releases a name (0: what its list says, or 600)",
        group="judge",
        takes="S",
    )
    may_release: bool = _option(
        False, "the server may release names to make room, so unknown is no fault", group="judge"
    )
    replicas: bool = _option(
        False, "several servers stand behind the address: no list is judged", group="judge"
    )
    strict: bool = _option(False, "a missed SHOULD fails the run, too", group="judge")
    max_ttft_p95: float = _option(
        0.0,
        "the run fails when the 95th percentile of TTFT is above so many seconds (0: no limit)",
        group="judge",
        takes="S",
    )
    min_used_share: float = _option(
        0.0,
        "the run fails when fewer of those that go on from a name are used (0)",
        group="judge",
        takes="SHARE",
    )
    max_busy_share: float = _option(
        0.0,
        "the run fails when more requests are turned away: 429, 503, 529 (0)",
        group="judge",
        takes="SHARE",
    )
    report: str = _option("", "write report.html, results.json and CSV files there", takes="DIR")


def spelled(name: str) -> str:
    """The option of a setting."""
    return "--" + name.replace("_", "-")


class _Adds(Protocol):
    def add_argument(self, *names: str, **how: Any) -> Any: ...


def _shown(default: object, choices: object) -> str:
    """Numbers short, and a text that is free to choose in quotation marks."""
    if isinstance(default, float):
        return f"{default:g}"
    return f'"{default}"' if isinstance(default, str) and choices is None else str(default)


def add_to(parser: _Adds, groups: Iterable[tuple[str | None, _Adds]] = ()) -> None:
    """Add every option; those of a group to that group's parser, if one is given."""
    homes = dict(groups)
    for one in fields(Settings):
        home = homes.get(one.metadata.get("group"), parser)
        text, default = one.metadata["text"], one.default
        assert default is not MISSING
        if isinstance(default, bool):
            home.add_argument(spelled(one.name), action="store_true", help=text)
            continue
        choices = one.metadata.get("choices")
        shown = f"{text} ({_shown(default, choices)})" if default and "(0:" not in text else text
        home.add_argument(
            spelled(one.name),
            type=type(default),
            default=default,
            choices=choices,
            metavar=None if choices else one.metadata["takes"],
            help=shown.replace("%", "%%"),
        )


def settings_of(parsed: argparse.Namespace) -> Settings:
    """The settings in a parser's result; what it does not hold keeps its default."""
    names = [one.name for one in fields(Settings)]
    return Settings(**{name: getattr(parsed, name) for name in names if hasattr(parsed, name)})


def problem_in(settings: Settings) -> str | None:
    """What is wrong with the settings, in one line for whoever gave them, or None."""
    for name in ("twins", "min_used_share", "max_busy_share"):
        if not 0 <= getattr(settings, name) <= 1:
            return f"{spelled(name)} is a share: give a number from 0 to 1"
    for name in ("forks", "depth", "history_tokens", "reply_tokens", "most_open"):
        if getattr(settings, name) < 1:
            return f"{spelled(name)} must be at least 1"
    for name in ("iterations", "names", "leave_after", "handles"):
        if getattr(settings, name) < 0:
            return f"{spelled(name)} must not be negative"
    for name in ("think", "ttl", "max_ttft_p95"):
        if not 0 <= getattr(settings, name) < float("inf"):
            return f"{spelled(name)} must be a number of seconds, 0 or more"
    for name in ("arrivals", "idle_limit", "reply_limit"):
        if not 0 < getattr(settings, name) < float("inf"):
            return f"{spelled(name)} must be above 0"
    if settings.compare and settings.iterations:
        return "--compare splits the time in two: leave --iterations out and give --run-time"
    if settings.compare and settings.scenario == "claude-code":
        return "--compare has no meaning for claude-code: its names are not made by headers"
    if settings.scenario == "claude-code" and settings.route not in ("all", "messages"):
        return "claude-code speaks the Messages route only: leave --route out"
    return None
