"""Churn: more names than the server holds, so that some are always released."""

import math

from halogen_loadtest.judge.expected import Claim, Kept
from halogen_loadtest.scenarios.texts import filler, history
from halogen_loadtest.talk import Talk


def names_each(names: int, cap: int, users: int) -> int:
    """Names of one user: as asked for, or so many that all users together have twice the cap."""
    return names or max(2, math.ceil(2 * cap / max(1, users)))


class Churn:
    """One user's names, and what each should hold; lives as long as the user."""

    def __init__(self, talk: Talk, names: int) -> None:
        self._talk = talk
        self._names = [talk.name(f"n{number}") for number in range(names)]
        self._held: dict[str, Kept] = {}

    def __call__(self) -> None:
        """Go on under one of the names, at random, or begin it anew where it was released."""
        talk = self._talk
        name = talk.rng.choice(self._names)
        held = self._held.pop(name, None)
        share = max(4, talk.settings.history_tokens // 4)
        if held is None:
            story = history(talk.rng, talk.settings.depth, talk.settings.history_tokens)
            said = talk.ask("begin", story, keep=name)
        else:
            # LIFE-4: used, or released and unknown; never anything between the two.
            story = held.history.user(filler(talk.rng, share))
            said = talk.ask("go on", story, claim=Claim.TRUE, start=held, keep=name)
        deep = 2 * (talk.settings.depth + 4)
        if said.kept is not None and len(said.kept.history.turns) < 2 * deep:
            self._held[name] = said.kept
        talk.check_list()
