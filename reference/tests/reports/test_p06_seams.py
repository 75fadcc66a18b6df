"""P06: one token too few or too many where a reply ends, and nothing left to read."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.protocol.client import Kept, Talk, check_branch, check_used
from tests.protocol.histories import asking
from tests.protocol.test_keep import ended_at_once, ended_by_limit, ended_by_stop, ended_by_turn

Namer = Callable[[str], str]
TURNS = 6


@pytest.mark.parametrize("ending", [ended_by_turn, ended_by_stop, ended_by_limit, ended_at_once])
def test_p06_turn_after_turn(whole: Talk, name: Namer, ending: Callable[[Talk, str], Kept]) -> None:
    """A model that never sees its turn end shows it some turns later."""
    kept = ending(whole, name("plan"))
    how: dict[str, Any] = {"max_tokens": 4}
    for number in range(TURNS):
        history = kept.then(f"Say it in {number} words.")
        kept = Kept(kept.name, history, check_used(whole, kept, history, keep=kept.name, **how))


def test_p06_a_full_hit_twice(talk: Talk, name: Namer) -> None:
    """All of the prompt is there: one token is evaluated again, for what follows it."""
    kept = talk.kept(name("plan"), asking("What is fog?"), max_tokens=12)
    first, second = (check_branch(talk, kept, kept.answer.text, max_tokens=4) for _ in range(2))
    assert first.text == second.text and first.cost == second.cost > 0
