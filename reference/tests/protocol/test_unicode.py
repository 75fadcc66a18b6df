"""Text beyond ASCII: no event ever holds half a character, and it can be kept and branched."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tests.protocol.client import Kept, Talk, check_same, check_used
from tests.protocol.histories import asking
from tests.protocol.rawhttp import Stream

Namer = Callable[[str], str]
PARTY = asking("Repeat it.", system="You write nothing but emoji.")
EMOJI = "🎉🎊🎉🎊🎉🎊🎉🎊🎉🎊"
LATIN = re.compile(r"[\x00-\x7f]*")


def test_streams_never_split_a_character(talk: Talk) -> None:
    """A small model that has read emoji goes on with emoji; each is several tokens."""
    body = talk.route.body(PARTY, partial=EMOJI, stream=True, max_tokens=24)
    pieces = []
    with Stream(talk.server, talk.route, body) as stream:
        while event := stream.event():
            pieces.append(str(event))
            assert "\ufffd" not in pieces[-1] and "\\ud8" not in pieces[-1]
        reply = stream.rest()
    assert reply.text == talk.twin(PARTY, partial=EMOJI, max_tokens=24).text
    assert not LATIN.fullmatch(reply.text), "the model wrote no emoji: the test shows nothing"


def test_a_limit_inside_a_character(whole: Talk, name: Namer) -> None:
    """Whole characters only are said and kept; the next token starts after them (FROM-9)."""
    texts = []
    for limit in range(1, 7):
        answer = whole.ask(PARTY, keep=name("cut"), partial=EMOJI, max_tokens=limit)
        assert "\ufffd" not in answer.text
        texts.append(answer.text)
        history = (*PARTY, ("assistant", EMOJI + answer.text), ("user", "Why?"))
        used = whole.ask(history, start=name("cut"), max_tokens=3)
        assert used.outcome == "used"
        check_same(used, whole.twin(history, max_tokens=3))
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert len(set(texts)) < len(texts), "no limit fell inside a character"


def test_hot_replies(whole: Talk, name: Namer) -> None:
    for seed in range(3):
        how: dict[str, Any] = {"temperature": 1.5, "seed": seed, "max_tokens": 12}
        answer = whole.ask(PARTY, keep=name("hot"), partial=EMOJI, **how)
        streamed = Talk(whole.server, whole.route, stream=True).ask(PARTY, partial=EMOJI, **how)
        assert answer.text == streamed.text and "\ufffd" not in answer.text
        kept = Kept(name("hot"), PARTY, answer)
        history = (*PARTY, ("assistant", EMOJI + answer.text), ("user", "Why?"))
        check_used(whole, kept, history, respelled=True, max_tokens=2)
