"""P11: white space at the end of the text that is to be continued."""

from collections.abc import Callable

import pytest

from tests.protocol.client import Talk, check_same
from tests.protocol.histories import asking


@pytest.mark.parametrize("space", [" ", "\n", "\t"], ids=["blank", "line", "tab"])
def test_p11_continued_exactly_after_it(talk: Talk, name: Callable[[str], str], space: str) -> None:
    """The same on every route; neither doubled nor dropped (BRANCH-7)."""
    history, partial = asking("What is fog?"), f"The answer is{space}"
    grown = talk.ask(history, keep=name("w"), partial=partial, max_tokens=8)
    assert grown.good.prompt > talk.ask(history).good.prompt
    for beginning in (partial, partial[:-1]):
        answer = talk.ask(history, start=name("w"), partial=beginning, max_tokens=8)
        assert answer.outcome == "used"
        check_same(answer, talk.twin(history, partial=beginning, max_tokens=8))
    assert talk.ask(history, start=name("w"), partial=partial, max_tokens=8).text == grown.text
    other = talk.ask(history, start=name("w"), partial=f"The answer is {space}", max_tokens=2)
    assert other.outcome == "unmatched"
    # A client that trims the whole reply has changed it: another history, and answered as such.
    whole = (*history, ("assistant", partial + grown.text), ("user", "Why?"))
    trimmed = (*history, ("assistant", (partial + grown.text).strip() + "."), ("user", "Why?"))
    assert talk.ask(whole, start=name("w")).outcome == "used"
    assert talk.ask(trimmed, start=name("w")).outcome == "unmatched"
