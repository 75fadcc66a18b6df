"""What a run looks like on a console: a line a request, then kinds by outcomes."""

from collections import Counter
from collections.abc import Iterable, Iterator

from halogen_simulator.traffic.judge import OUTCOMES, Played
from halogen_simulator.traffic.kinds import KINDS

HEAD = f"{'n':>5}  {'kind':<23} {'thread':<16} {'outcome':<10} {'read':>7} {'of':>7}"

NO_OUTCOME = """No answer says what it started from. Is the server set up for it?
  HALOGEN_FORK=1 HALOGEN_FORK_MAP=claude-code"""


def line(played: Played) -> str:
    """One request: what it started from, and how many of its prompt's tokens were read."""
    record = played.placed.record
    outcome = played.outcome
    if not played.answered:
        outcome = "no answer" if played.status is None else f"{played.status}"
    return (
        f"{record.n:>5}  {played.kind.name:<23} {record.thread.label[:16]:<16} {outcome:<10} "
        f"{_count(played.cost)} {_count(played.prompt)}"
    ).rstrip()


def _count(tokens: int | None) -> str:
    return f"{'' if tokens is None else tokens:>7}"


def table(run: Iterable[Played]) -> Iterator[str]:
    """Kinds by outcomes, and what was read in all."""
    counts: Counter[tuple[str, str]] = Counter()
    read: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for played in run:
        kind = played.kind.name
        counts[kind, played.outcome if played.answered else "none"] += 1
        # A token count reads nothing.
        if played.kind.outcomes and played.prompt is not None:
            read[kind] += played.cost or 0
            of[kind] += played.prompt
    yield (
        f"{'kind':<23} {'used':>6} {'unmatched':>10} {'unknown':>8} {'-':>5} {'read':>9} {'of':>9}"
    )
    for kind in KINDS:
        if not any(name == kind for name, _ in counts):
            continue
        told = [counts[kind, outcome] for outcome in OUTCOMES]
        rest = sum(count for (name, _), count in counts.items() if name == kind) - sum(told)
        used, unmatched, unknown = (str(count or ".") for count in told)
        yield (
            f"{kind:<23} {used:>6} {unmatched:>10} {unknown:>8} {rest or '.':>5} "
            f"{read[kind] or '.':>9} {of[kind] or '.':>9}"
        )
    total, whole = sum(read.values()), sum(of.values())
    if whole:
        saved = f"{100 * (1 - total / whole):.0f} % of the prompts came from kept states"
        yield f"{total} of {whole} prompt tokens read, {saved}"


def verdict(requests: int, wrong: int) -> str:
    """The last line: is everything as the protocol demands?"""
    if not wrong:
        return f"{requests} requests, every outcome as the protocol demands"
    return f"{wrong} of {requests} requests were not answered as the protocol demands"


def tells_nothing(run: Iterable[Played]) -> bool:
    """No answer to a conversation's request names an outcome."""
    turns = [played for played in run if played.kind.must_be_used and played.answered]
    return bool(turns) and not any(played.outcomes for played in turns)
