"""Fan-out: keep a conversation, go on from it many times at once, join what came of it."""

from dataclasses import replace
from functools import partial

from halogen_conformance.drivers.conversation import System
from halogen_loadtest.judge.expected import Claim, Kept
from halogen_loadtest.judge.judge import Finding
from halogen_loadtest.scenarios.texts import history, marker
from halogen_loadtest.talk import Fork, Said, Talk

NAMES = 2
"""A user's names: what is forked, and what is joined."""


def fan_out(talk: Talk) -> None:
    """One round. A base that cannot be kept ends it: its answer has been judged already."""
    choice = talk.settings
    story = history(talk.rng, choice.depth, choice.history_tokens)
    base = talk.ask("keep", story, keep=talk.name("base")).kept
    if base is None:
        return
    if talk.rng.random() < 0.25 and talk.sessions:
        _probe(talk, base)
    answers = _forks(talk, base)
    told = [said.answer.reply.text[:200] for said in answers if said.ok]
    talk.check_list([base, *_join(talk, base, told)])


def _probe(talk: Talk, base: Kept) -> None:
    """Another history under the same name, and a name that never was (FROM-4, FROM-5)."""
    edited = base.history.swap(0, System(f"You are {marker(talk.rng)}.")).user("Go on.")
    talk.ask("edited history", edited, claim=Claim.EDITED, start=base)
    never = talk.name(f"never-{talk.rng.randrange(10**9)}")
    talk.ask("unknown name", base.history.user("Go on."), claim=Claim.NEVER, unknown=never)


def _forks(talk: Talk, base: Kept) -> list[Said]:
    words = [marker(talk.rng) for _ in range(talk.settings.forks)]
    group = f"{talk.prefix}{talk.rng.randrange(10**9)}"
    tasks = []
    for number, word in enumerate(words):
        others = tuple(other for other in words if other != word)
        tasks.append(
            partial(
                talk.ask,
                "fork",
                base.history.user(f"Your word is {word}. Say what you make of it."),
                claim=Claim.TRUE,
                start=base,
                fork=Fork(group, f"{number + 1}", others),
            )
        )
    return talk.together(tasks, wall="fan-out")


def _join(talk: Talk, base: Kept, told: list[str]) -> list[Kept]:
    """Two branches report at once under one name: it holds one of the two, whole (KEEP-6).

    Returns the name that is live then, if there is one.
    """
    joined = talk.name("joined")
    tasks = [
        partial(
            talk.ask,
            "join",
            base.history.user(f"{side} reports: " + " ".join(told)),
            claim=Claim.TRUE,
            start=base,
            keep=joined,
        )
        for side in ("East", "West")
    ]
    ends = [said.kept for said in talk.together(tasks) if said.kept is not None]
    if len(ends) < 2 or not talk.sessions:
        return ends[:1]
    for end in ends:
        end.sure = False  # which of the two it holds is for the server to say
    after = [
        talk.ask(
            "after the join",
            end.history.user("Sum it up."),
            claim=Claim.TRUE,
            start=end,
            about="one-winner",
        )
        for end in ends
    ]
    said = [one.answer.outcome for one in after]
    talk.ledger.counts["checked one-winner"] += 1
    if all(one.ok for one in after) and said in (["used"] * 2, ["unmatched"] * 2):
        wanted = "one of the two histories used, the other unmatched"
        talk.report(Finding("one-winner", wanted, f"both {said[0]}"), "after the join", after[1])
    return [replace(ends[0], sure=True)]
