"""An answer held against the rules: findings, or none."""

from collections.abc import Iterable
from dataclasses import dataclass

from halogen_conformance.drivers.answer import OUTCOMES, Answer
from halogen_conformance.drivers.exchange import Ending
from halogen_conformance.drivers.handles import Handles
from halogen_conformance.drivers.reply import Reply
from halogen_loadtest.judge.expected import Expectation

SLACK = 16
"""Tokens a server may read again at the seam: an end-of-turn mark, the block of a paged cache."""

BUSY = frozenset({429, 503, 529})
"""Statuses by which a server turns a request away because it has too much to do."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that does not hold, in words for a reader."""

    invariant: str
    expected: str
    actual: str


def is_busy(answer: Answer) -> bool:
    """It was turned away whole: counted, and judged by its share of all requests."""
    return answer.status in BUSY and answer.exchange.ending is Ending.COMPLETE


def judge(answer: Answer, expected: Expectation, foreign: Iterable[str] = ()) -> list[Finding]:
    """Everything that is wrong with an answer. ``foreign`` are words that only siblings were told.

    An answer that was left on purpose is judged by what there was of it.
    """
    if is_busy(answer):
        return []
    if expected.refusal:
        return _refused(answer)
    found = [*_answered(answer), *_outcome(answer, expected), *_leaks(answer.reply, foreign)]
    if answer.ok:
        found += _cost(answer, expected)
    return found


def checks(answer: Answer, expected: Expectation, *, forked: bool) -> list[str]:
    """The invariants that :func:`judge` could see broken or held by this answer."""
    if is_busy(answer):
        return []
    found = ["answered"]
    if answer.status is not None and not expected.refusal:
        found.append("outcome-said")
        found += [expected.about] if expected.outcomes is not None else []
    if answer.outcome == "used" and expected.kept is not None and expected.kept.size is not None:
        found.append("cost")
    return [*found, "isolation"] if forked and answer.ok else found


def _refused(answer: Answer) -> list[Finding]:
    if answer.status is not None and 400 <= answer.status < 500 and not answer.problems:
        return []
    story = "; ".join([answer.story, *map(str, answer.problems[:3])])
    return [Finding("answered", "a 4xx in the route's own error shape", story)]


def _answered(answer: Answer) -> list[Finding]:
    left = answer.exchange.ending is Ending.LEFT
    if not answer.ok and not (left and answer.status == 200 and answer.reply.error is None):
        return [Finding("answered", "a whole answer of status 200", answer.story)]
    if answer.problems:
        actual = "; ".join(str(problem) for problem in answer.problems[:5])
        return [Finding("answered", "every event once, in order, with one end", actual)]
    return []


def _outcome(answer: Answer, expected: Expectation) -> list[Finding]:
    if answer.status is None:
        return []
    said = answer.outcomes
    if expected.outcomes is None:
        if said:
            return [Finding("outcome-said", "no X-Halogen-From: none was sent", ", ".join(said))]
        return []
    if not said and expected.may_be_silent:
        return []
    if len(said) != 1 or said[0] not in OUTCOMES:
        actual = f"X-Halogen-From: {', '.join(said) or 'absent'}"
        return [Finding("outcome-said", "exactly one of used, unmatched, unknown", actual)]
    if said[0] not in expected.outcomes:
        wanted = " or ".join(sorted(expected.outcomes))
        return [Finding(expected.about, f"X-Halogen-From: {wanted}", said[0])]
    return []


def _leaks(reply: Reply, foreign: Iterable[str]) -> list[Finding]:
    said = reply.text + reply.reasoning + "".join(call.arguments for call in reply.calls)
    leaked = [word for word in foreign if word in said]
    if not leaked:
        return []
    told = "nothing that only a sibling was told"
    return [Finding("isolation", told, f"the reply holds {', '.join(leaked[:3])}")]


def _cost(answer: Answer, expected: Expectation) -> list[Finding]:
    usage, kept = answer.reply.usage, expected.kept
    silent = expected.may_be_silent and not answer.outcomes
    if usage is None or kept is None or kept.size is None:
        return []
    if answer.outcome != "used" and not silent:
        return []
    most = max(0, usage.prompt - kept.size) + SLACK
    if usage.cost <= most:
        return []
    about = expected.about if silent else "cost"
    wanted = f"at most {most} of {usage.prompt} prompt tokens evaluated"
    return [Finding(about, wanted, f"{usage.cost} evaluated, {usage.cached} cached")]


def judge_twin(
    answer: Answer, twin: Answer, *, deterministic: bool, about: str = "twin"
) -> list[Finding]:
    """What differs between an answer and that of the same request without headers."""
    if not (answer.ok and twin.ok):
        return []
    found = []
    sizes = [reply.usage.prompt if reply.usage else None for reply in (answer.reply, twin.reply)]
    if sizes[0] != sizes[1]:
        wanted = f"{sizes[1]} prompt tokens, as without the headers"
        found.append(Finding(about, wanted, f"{sizes[0]} prompt tokens"))
    if deterministic and answer.reply.fingerprint()[:5] != twin.reply.fingerprint()[:5]:
        # One that forgets what its siblings share, or knows too much, is seen here as well.
        found.append(Finding(about, _shown(twin.reply), _shown(answer.reply)))
    return found


def _shown(reply: Reply) -> str:
    finish = reply.finish.value if reply.finish else "no finish"
    calls = "".join(f" {call.name}({call.arguments})" for call in reply.calls)
    return f"{reply.text!r}{calls} ({finish})"


def judge_list(
    listed: Handles,
    *,
    cap: int,
    prefix: str,
    live: Iterable[str] = (),
    kept: Iterable[str] | None = None,
) -> list[Finding]:
    """A list of names taken while the names with ``prefix`` are at rest.

    ``live`` must be listed; ``kept``, if given, are all names with the prefix that were ever kept.
    """
    found = []
    if listed.count is not None and listed.count > cap:
        found.append(Finding("cap", f"at most {cap} live names", f"{listed.count} are listed"))
    missing = [name for name in live if not listed.has(name)]
    if missing:
        found.append(Finding("list", f"{', '.join(missing)} listed", _names(listed, prefix)))
    names = listed.names
    if names is None:
        return found
    if len(set(names)) != len(names):
        found.append(Finding("list", "every name once", _names(listed, prefix)))
    if kept is not None:
        known = set(kept)
        strange = [name for name in names if name.startswith(prefix) and name not in known]
        if strange:
            wanted = "no name that was never kept"
            found.append(Finding("list", wanted, f"listed: {', '.join(strange)}"))
    return found


def _names(listed: Handles, prefix: str) -> str:
    if listed.names is None:
        return "the list does not hold it"
    ours = [name for name in listed.names if name.startswith(prefix)]
    return f"listed with this prefix: {', '.join(ours) or 'none'}"
