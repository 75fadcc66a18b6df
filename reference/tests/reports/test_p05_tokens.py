"""P05: a reply's text, cut into tokens again, is not the tokens it was made of."""

from collections.abc import Callable

import pytest

from tests.protocol.client import Talk, check_used
from tests.protocol.histories import asking

SEEDS = {"simulator": 30, "reference": 8}


def test_p05_a_reply_sent_back_is_used_however_it_is_cut(
    engine: str, whole: Talk, name: Callable[[str], str]
) -> None:
    respelled = 0
    for seed in range(SEEDS[engine]):
        kept = whole.kept(
            name("hot"),
            asking("A list, some code, and many   spaces.\n\n"),
            temperature=1.5,
            seed=seed,
            max_tokens=20,
        )
        answer = check_used(whole, kept, kept.then("Go on."), respelled=True, max_tokens=4)
        # The prompt is counted as it would be read afresh: elsewhere cut, elsewhere counted.
        twin = whole.twin(kept.then("Go on."), max_tokens=4)
        respelled += answer.good.prompt - answer.cost != kept.tokens
        assert twin.good.prompt == answer.good.prompt
    if engine == "simulator" and not respelled:
        pytest.fail("every reply was cut as it was made: nothing was tested")
