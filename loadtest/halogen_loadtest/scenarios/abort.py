"""Abort storm: many clients leave in the middle of a reply, and one that stays notices nothing."""

from functools import partial

from halogen_conformance.drivers.driver import Options
from halogen_loadtest.judge.expected import Claim, Kept
from halogen_loadtest.scenarios.texts import COUNT, history
from halogen_loadtest.talk import Fork, Said, Talk

NAMES = 1
LEFT = 8
"""Events by which every client that leaves has left."""
LONG_ENOUGH_S = 0.15
"""A reply that is over sooner may be whole before the server notices that its client has left."""


def abort(talk: Talk) -> None:
    """One storm over one name."""
    choice = talk.settings
    story = history(talk.rng, choice.depth, choice.history_tokens)
    base = talk.ask("keep", story, keep=talk.name("base")).kept
    if base is None:
        return
    group = f"{talk.prefix}{talk.rng.randrange(10**9)}"
    stays = partial(_long, talk, base, Fork(group, "stays"), "stays")
    tasks = [partial(_leave, talk, base, group, number) for number in range(choice.forks)]
    stayed, *_ = talk.together([stays, *tasks])
    events = stayed.answer.exchange.events
    told = len(events) > LEFT and events[-1].seconds - events[LEFT].seconds > LONG_ENOUGH_S
    if not told:
        talk.ledger.counts["storms too fast"] += 1
    # KEEP-5: what was left is not kept, and the name still holds what it held.
    talk.ask(
        "after the storm",
        base.history.user("And then?"),
        claim=Claim.TRUE if told else Claim.UNSURE,
        start=base,
        about="abandoned",
    )
    talk.check_list([base])


def _long(
    talk: Talk,
    base: Kept,
    fork: Fork,
    step: str,
    *,
    keep: str | None = None,
    leave_after: int | None = None,
) -> Said:
    """The long reply, to its end or left after some events."""
    return talk.ask(
        step,
        base.history.user("Count to a million.").branch(COUNT),
        claim=Claim.TRUE,
        start=base,
        keep=keep,
        fork=fork,
        options=Options(max_tokens=max(256, talk.settings.reply_tokens)),
        leave_after=leave_after,
    )


def _leave(talk: Talk, base: Kept, group: str, number: int) -> Said:
    """One that would replace the name's state, and is left."""
    sure = base.sure
    fork = Fork(group, f"leaves {number + 1}")
    after = talk.settings.leave_after
    said = _long(talk, base, fork, "leaves", keep=base.name, leave_after=after)
    base.sure = sure
    return said
