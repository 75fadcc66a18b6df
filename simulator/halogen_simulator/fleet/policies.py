"""Which name makes room when the cap, or the memory, is reached.

A policy sees what a server can know: when names were made and used, how long their histories are,
and which name each was started from. The names come least recently used first.
"""

from collections.abc import Callable, Iterable
from random import Random

from halogen_simulator.fleet.entry import Entry

QUIET_S = 60.0
"""Seconds without a use after which a name counts as quiet."""

Live = dict[str, Entry]
Policy = Callable[[Live, Random], Entry]


def _lru(live: Live, random: Random) -> Entry:
    return next(iter(live.values()))


def _mru(live: Live, random: Random) -> Entry:
    return next(reversed(live.values()))


def _fifo(live: Live, random: Random) -> Entry:
    return min(live.values(), key=lambda entry: entry.serial)


def _random(live: Live, random: Random) -> Entry:
    return random.choice(list(live.values()))


def _largest(live: Live, random: Random) -> Entry:
    return max(live.values(), key=lambda entry: entry.tokens)


def _smallest(live: Live, random: Random) -> Entry:
    return min(live.values(), key=lambda entry: entry.tokens)


def _least_used(live: Live, random: Random) -> Entry:
    return min(live.values(), key=lambda entry: entry.uses)


def _subagents_first(live: Live, random: Random) -> Entry:
    """The least recently used of those that were started from another name."""
    return _first(live, (entry for entry in live.values() if entry.parent is not None))


def _newest_subagent(live: Live, random: Random) -> Entry:
    """The most recently used of those that were started from another name."""
    return _first(live, (entry for entry in reversed(live.values()) if entry.parent is not None))


def _parents_last(live: Live, random: Random) -> Entry:
    """The least recently used that no other live name was started from."""
    parents = {entry.parent for entry in live.values()}
    return _first(live, (entry for entry in live.values() if entry.name not in parents))


def _idle_first(live: Live, random: Random) -> Entry:
    """The least recently used that no request is using."""
    return _first(live, (entry for entry in live.values() if not entry.users))


def _quiet_else_newest(live: Live, random: Random) -> Entry:
    """The least recently used if it has been quiet for a while, else the one made last.

    Names of agents that are at work are all used again soon; releasing any of them for a newcomer
    only makes the next miss. So newcomers pay, until somebody has really fallen silent.
    """
    oldest, latest = next(iter(live.values())), next(reversed(live.values()))
    if not oldest.users and latest.last_used - oldest.last_used > QUIET_S:
        return oldest
    return max(live.values(), key=lambda entry: entry.serial)


def _first(live: Live, preferred: Iterable[Entry]) -> Entry:
    for entry in preferred:
        return entry
    return next(iter(live.values()))


POLICIES: dict[str, Policy] = {
    "lru": _lru,
    "mru": _mru,
    "fifo": _fifo,
    "random": _random,
    "largest-first": _largest,
    "smallest-first": _smallest,
    "least-used": _least_used,
    "subagents-first": _subagents_first,
    "newest-subagent": _newest_subagent,
    "parents-last": _parents_last,
    "idle-first": _idle_first,
    "quiet-else-newest": _quiet_else_newest,
}
