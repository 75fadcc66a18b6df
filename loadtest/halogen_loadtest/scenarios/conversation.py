"""Conversation: long turns one after the other, each going on from the last."""

from halogen_conformance.drivers.conversation import User
from halogen_conformance.drivers.driver import Options
from halogen_loadtest.judge.expected import REFUSAL, Claim, Kept
from halogen_loadtest.scenarios.texts import filler, history, marker
from halogen_loadtest.talk import Talk

NAMES = 1


def conversation(talk: Talk) -> None:
    """One conversation of ``depth`` turns. Now and then something else happens to its name."""
    choice = talk.settings
    name = talk.name("talk")
    story = history(talk.rng, 1, choice.history_tokens)
    now = talk.ask("first turn", story, keep=name).kept
    for turn in range(choice.depth):
        if now is None or talk.leaving():
            return
        if talk.sessions:
            _disturb(talk, now, turn)
        share = max(4, choice.history_tokens // (2 * choice.depth))
        said = talk.ask(
            "turn",
            now.history.user(filler(talk.rng, share)),
            claim=Claim.TRUE,
            start=now,
            keep=name,
            about="refused-keep" if talk.sessions and turn % 3 == 1 else "outcome-right",
        )
        now = said.kept
    if now is not None:
        talk.check_list([now])


def _disturb(talk: Talk, now: Kept, turn: int) -> None:
    """Between turns, one after the other: an edited history, a refused keep, a branch."""
    if turn % 3 == 0:
        told = User(f"Something else: {marker(talk.rng)}.")
        first = next(i for i, one in enumerate(now.history.turns) if isinstance(one, User))
        edited = now.history.swap(first, told).user("And now?")
        talk.ask("edited history", edited, claim=Claim.EDITED, start=now)
    elif turn % 3 == 1:
        # KEEP-4: whoever is refused costs nobody anything; the next turn shows it.
        hot = Options(max_tokens=8, extra={"temperature": "hot"})
        talk.ask(
            "refused request", now.history.user("Go on."), keep=now.name, options=hot,
            expected=REFUSAL,
        )  # fmt: skip
    else:
        _branch(talk, now)


def _branch(talk: Talk, now: Kept) -> None:
    """Go on from inside the last reply (BRANCH-1 to BRANCH-3)."""
    *_, last = now.history.turns
    text: str = getattr(last, "text", "")
    if len(text) < 8:
        return
    beginning = text[: len(text) // 2].rstrip()
    before = now.history.cut(len(now.history.turns) - 1)
    talk.ask("branch", before.branch(beginning), claim=Claim.TRUE, start=now)
