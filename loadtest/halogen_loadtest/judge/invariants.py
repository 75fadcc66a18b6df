"""The rules a server is held to under load, as one table.

They are rows of the protocol that can be told from outside while many talk at once. What needs a
server to itself (restarts, keys, the clock) is the conformance suite's.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule. ``rows`` are the protocol's requirements it is made of; a rule whose rows are all
    SHOULD is a warning unless the run is strict."""

    id: str
    rows: tuple[str, ...]
    sentence: str
    must: bool = True


_ALL = (
    Invariant(
        "answered",
        ("FROM-6", "LIFE-6"),
        "Every request is answered: whole, every event once and in order, with one end.",
    ),
    Invariant(
        "outcome-said",
        ("FROM-1", "SWITCH-2"),
        "An answer to a From says exactly one legal outcome; no other answer says one.",
    ),
    Invariant(
        "outcome-right",
        ("FROM-2", "FROM-4", "FROM-5", "KEEP-1", "LIFE-4"),
        "The outcome is the right one for what was sent and for what the name held.",
    ),
    Invariant(
        "cost",
        ("FROM-7",),
        "What is used is not read again: only the new text is evaluated.",
    ),
    Invariant(
        "isolation",
        ("FROM-3",),
        "Forks of one conversation see nothing of each other.",
    ),
    Invariant(
        "twin",
        ("FROM-6",),
        "An answer is what the same request without headers gets: as many prompt tokens, and on "
        "a deterministic server the same reply.",
    ),
    Invariant(
        "refused-keep",
        ("KEEP-4",),
        "A request that is refused keeps nothing and costs no name its state.",
    ),
    Invariant(
        "one-winner",
        ("KEEP-6",),
        "Of two requests that keep one name at once the name holds one, whole.",
    ),
    Invariant(
        "abandoned",
        ("KEEP-5",),
        "A reply whose client left is not kept, and what the name held stays.",
        must=False,
    ),
    Invariant(
        "cap",
        ("LIFE-3",),
        "Never more names are live than the server holds.",
    ),
    Invariant(
        "list",
        ("LIST-1", "KEEP-3"),
        "The list names every live name of this run and no other.",
    ),
    Invariant(
        "threads",
        ("MAP-1", "MAP-2", "MAP-3", "MAP-4"),
        "Each Claude Code thread goes on from its own state, whatever the others do.",
    ),
)

INVARIANTS: dict[str, Invariant] = {one.id: one for one in _ALL}
