"""BRANCH: going on from inside a kept reply."""

from collections.abc import Callable

import pytest

from tests.protocol.client import Kept, Talk, check_branch, check_same, check_used
from tests.protocol.histories import asking

Namer = Callable[[str], str]


def a_reply(talk: Talk, name: Namer) -> Kept:
    kept = talk.kept(name("long"), asking("What is fog?"), max_tokens=16)
    assert len(kept.answer.text) > 30
    return kept


def test_branch_1_goes_on_from_a_beginning(talk: Talk, name: Namer) -> None:
    kept = a_reply(talk, name)
    text = kept.answer.text
    cut = text.index(" ", len(text) // 2)
    answer = check_branch(talk, kept, text[:cut], max_tokens=4)
    # The reply is the new text only, and under greedy choice it is what came before.
    assert answer.text.strip() and text[cut:].startswith(answer.text[:4])
    # The whole reply is a beginning of itself (P06: nothing is left to read, and yet it goes on).
    first, second = (check_branch(talk, kept, text, max_tokens=4) for _ in range(2))
    assert first.text == second.text and first.cost == second.cost
    check_used(talk, kept, kept.then("Why?"))


def test_branch_1_at_every_place(whole: Talk, name: Namer) -> None:
    """A branch inside a word cuts a token: it costs little wherever it is."""
    kept = a_reply(whole, name)
    for cut in range(1, 12, 2):
        check_branch(whole, kept, kept.answer.text[:cut], max_tokens=2)


def test_branch_1_without_the_flag_it_is_a_finished_turn(whole: Talk, name: Namer) -> None:
    kept = a_reply(whole, name)
    partial = kept.answer.text[:10]
    history = (*kept.history, ("assistant", partial))
    assert whole.ask(history, start=kept.name).outcome == "unmatched"
    # The whole reply repeats what was kept, and another turn of the assistant's follows it.
    finished = (*kept.history, ("assistant", kept.answer.text))
    check_used(whole, kept, finished)


def test_branch_4_another_text_is_unmatched_and_continued(talk: Talk, name: Namer) -> None:
    kept = a_reply(talk, name)
    text = kept.answer.text
    for other in (text[:12] + "#", "Well, " + text, text + "!"):
        answer = talk.ask(kept.history, start=kept.name, partial=other)
        assert answer.outcome == "unmatched"
        check_same(answer, talk.twin(kept.history, partial=other))
    check_used(talk, kept, kept.then("Why?"))


def test_branch_5_prefix_and_continuation_are_one_reply(talk: Talk, name: Namer) -> None:
    kept = a_reply(talk, name)
    partial = kept.answer.text[: kept.answer.text.index(" ", 12)]
    branch = check_branch(talk, kept, partial, keep=name("branch"), max_tokens=5)
    reply = partial + branch.text
    history = (*kept.history, ("assistant", reply), ("user", "Why?"))
    used = talk.ask(history, start=name("branch"))
    assert used.outcome == "used"
    check_same(used, talk.twin(history))
    assert used.cost < talk.twin(history).cost // 2
    # Only the whole is that reply: neither its first part alone nor its second.
    for piece in (partial, branch.text):
        other = (*kept.history, ("assistant", piece), ("user", "Why?"))
        assert talk.ask(other, start=name("branch"), max_tokens=2).outcome == "unmatched"
    # A branch of the branch, before the place where it left.
    twig = talk.ask(kept.history, start=name("branch"), partial=partial[:9], max_tokens=4)
    assert twig.outcome == "used"
    check_same(twig, talk.twin(kept.history, partial=partial[:9], max_tokens=4))


def test_branch_5_moves_its_own_name(whole: Talk, name: Namer) -> None:
    """From and Keep of one name, again and again: the reply grows piece by piece."""
    kept = a_reply(whole, name)
    so_far = kept.answer.text[:8]
    for _ in range(3):
        more = whole.ask(
            kept.history, start=kept.name, keep=kept.name, partial=so_far, max_tokens=3
        )
        assert more.outcome == "used"
        so_far += more.text
    history = (*kept.history, ("assistant", so_far), ("user", "Why?"))
    assert whole.ask(history, start=kept.name).outcome == "used"


SPELLINGS: list[Callable[[str], object]] = [
    lambda text: text,
    lambda text: [{"type": "text", "text": text}],
    lambda text: [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}],
    lambda text: [{"type": "text", "text": text[:5]}, {"type": "text", "text": text[5:]}],
]


def test_branch_6_every_spelling_branches_alike(talk: Talk, name: Namer) -> None:
    kept = a_reply(talk, name)
    partial = kept.answer.text[: kept.answer.text.index(" ", 12)]
    twin = talk.twin(kept.history, partial=partial)
    for flags in ({}, {"add_generation_prompt": False}):
        for spelling in SPELLINGS:
            body = talk.route.body(kept.history, partial=partial, stream=talk.stream, **flags)
            body["messages"][-1]["content"] = spelling(partial)
            answer = talk.post(body, start=kept.name)
            assert answer.outcome == "used"
            check_same(answer, twin)


@pytest.mark.parametrize("space", [" ", "\n", "\t", "  \n"])
def test_branch_7_white_space_is_continued_exactly(whole: Talk, name: Namer, space: str) -> None:
    """A reply that holds it is kept, so that the partial text is a true beginning of it."""
    grown = whole.ask(asking("What is fog?"), keep=name("w"), partial=f"Well,{space}", max_tokens=4)
    kept = Kept(name("w"), asking("What is fog?"), grown)
    answer = whole.ask(kept.history, start=kept.name, partial=f"Well,{space}", max_tokens=4)
    assert answer.outcome == "used"
    check_same(answer, whole.twin(kept.history, partial=f"Well,{space}", max_tokens=4))
    # Without the blank it is another beginning, and neither doubles nor drops it.
    bare = whole.ask(kept.history, start=kept.name, partial="Well,", max_tokens=4)
    assert bare.outcome == "used"
    check_same(bare, whole.twin(kept.history, partial="Well,", max_tokens=4))
