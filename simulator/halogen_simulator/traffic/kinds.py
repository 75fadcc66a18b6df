"""The kinds of request Claude Code sends, and what the protocol demands of the answer to each."""

from dataclasses import dataclass

USED, UNMATCHED, UNKNOWN = "used", "unmatched", "unknown"
_ANEW = frozenset({UNMATCHED, UNKNOWN})
_ANY = frozenset({USED, UNMATCHED, UNKNOWN})


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind. A server that reports no outcome on mapped requests (MAP-10) is judged by cost."""

    name: str
    outcomes: frozenset[str]
    """What it may be answered with; empty for what starts no reply."""
    why: str
    """The requirement, and what it means here."""

    @property
    def must_be_used(self) -> bool:
        return self.outcomes == {USED}


def _kind(name: str, outcomes: frozenset[str], why: str) -> Kind:
    return Kind(name, outcomes, why)


_CONTINUES = frozenset({USED})

HELLO = _kind("hello", frozenset(), "a sign of life: any answer will do")
COUNT = _kind("token count", frozenset(), "MAP-4: counts, and changes nothing")
PROBE = _kind("probe", _ANY, "MAP-4: one token, and nothing changes")
TITLE = _kind("title", _ANEW, "MAP-4: no tools, another system; often before the first turn")
FIRST = _kind("first turn", _ANEW, "nothing of it can be known yet")
TURN = _kind("turn", _CONTINUES, "MAP-1: starts from its own thread's state")
ASIDE = _kind("side request", _CONTINUES, "MAP-4: repeats the conversation, which goes on without")
COMPACTION = _kind("compaction", _CONTINUES, "MAP-4: on arrival it looks like the next turn")
REWRITTEN = _kind("rewritten history", _ANEW, "MAP-8: the turn after a compaction is read anew")
SUB_FIRST = _kind("subagent's first", _ANEW, "a history of its own")
SUB_TURN = _kind("subagent's turn", _CONTINUES, "MAP-1, MAP-2: starts from its own thread's state")
FORK = _kind("fork's first", _CONTINUES, "MAP-3: repeats its parent up to the reply that called it")
SESSION_FORK = _kind("forked session's first", _ANY, "repeats another session; nothing demands it")
OLDER = _kind("older copy", frozenset({USED, UNMATCHED}), "MAP-9: must not cost the live one")
STRANGER = _kind("stranger", _ANEW, "MAP-9: another history on the session")
STRANGER_TURN = _kind("stranger's turn", _ANY, "goes on from what has no thread of its own")
AGAIN = _kind("the same again", _ANY, "a request that was sent before, word for word")
OTHER = _kind("other route", _ANY, "not Claude Code's")

KINDS = {
    kind.name: kind
    for kind in (
        *(HELLO, TITLE, PROBE, COUNT, FIRST, TURN, ASIDE, COMPACTION, REWRITTEN),
        *(SUB_FIRST, SUB_TURN, FORK, SESSION_FORK, OLDER, STRANGER, STRANGER_TURN, AGAIN, OTHER),
    )
}
"""By name, in the order of tables."""
