"""Where sessions come from, and what each has cost by itself."""

from collections.abc import Iterable
from dataclasses import dataclass

from halogen_simulator.harness.record import Message
from halogen_simulator.harness.store import Listed
from halogen_simulator.harness.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Knot:
    """A place in a tree of forks. Token counts are of this place alone, parents left out."""

    key: str
    parent: str | None
    title: str
    evaluated: int = 0
    reused: int = 0
    requests: int = 0
    note: str = ""

    @property
    def saved(self) -> str:
        """What share of the prompts was not read again, for people."""
        whole = self.evaluated + self.reused
        share = f" ({self.reused / whole:.0%})" if whole else ""
        return f"saved {self.reused:,} of {whole:,} prompt tokens{share}"


def knots(sessions: Iterable[Listed]) -> list[Knot]:
    """A knot for each session that can be read, the oldest first. What a compaction removed is no
    longer in a transcript, and not counted."""
    found = {
        listed.session_id: listed.transcript for listed in sessions if listed.transcript is not None
    }
    ordered = sorted(found.values(), key=lambda one: (one.created_at_ms, one.session_id))
    return [_knot(transcript, found) for transcript in ordered]


def family(all_knots: Iterable[Knot], members: Iterable[str]) -> list[Knot]:
    """The knots that share a root with one of the members."""
    by_key = {knot.key: knot for knot in all_knots}
    roots = {_root(by_key, key) for key in members}
    return [knot for knot in by_key.values() if _root(by_key, knot.key) in roots]


def _root(by_key: dict[str, Knot], key: str) -> str:
    """The first known ancestor. Files may say anything: a circle of parents ends where it began."""
    passed = {key}
    while (knot := by_key.get(key)) and knot.parent in by_key and knot.parent not in passed:
        key = knot.parent or ""
        passed.add(key)
    return key


def _knot(transcript: Transcript, sessions: dict[str, Transcript]) -> Knot:
    fork = transcript.fork
    parent = fork.parent_session_id if fork else None
    told = sessions[parent].messages if parent in sessions else []
    own = transcript.messages[_common(transcript.messages, told) :]
    usages = [message.usage for message in own if message.usage]
    return Knot(
        transcript.session_id,
        parent,
        (fork.branch_name if fork else None) or transcript.session_id,
        sum(usage.evaluated for usage in usages),
        sum(usage.cache_read_input_tokens for usage in usages),
        len(usages),
        f"{'+' if told else ''}{len(own)} messages",
    )


def _common(messages: list[Message], parents: list[Message]) -> int:
    """How many messages a fork has from its parent: those both begin with."""
    for at, (own, theirs) in enumerate(zip(messages, parents, strict=False)):
        if own != theirs:
            return at
    return min(len(messages), len(parents))
