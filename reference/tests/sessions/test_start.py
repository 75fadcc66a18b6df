"""From a prompt and a kept conversation to tokens: what is reused, what is counted."""

from collections.abc import Sequence

import pytest

from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant, Conversation, Item, User, conversation
from halogen_reference.prompt import ChatTemplate, Seam
from halogen_reference.sessions.kept import Kept, Position
from halogen_reference.sessions.matching import match
from halogen_reference.sessions.start import (
    RETOKENISE_AT_MOST,
    Start,
    cold,
    from_seam,
    kept_after,
    warm,
)
from tests.prompt.templates import CHATML, FORGETFUL
from tests.sessions.fakes import TOKENS, FakeState, encode, in_bytes, shown

TEMPLATE = ChatTemplate(CHATML)
ASK: list[Item] = [User("go")]


def cold_start(history: Conversation, opening: Opening = Opening.REPLY) -> Start:
    return cold(TEMPLATE.render(history, opening), TOKENS)


def keep(text: str, spelled: Sequence[int], history: Sequence[Item] = ASK) -> Kept:
    """A conversation whose reply was written with these tokens."""
    assert shown(spelled) == text.encode()
    call = Call("m", conversation(list(history)))
    start = cold_start(call.conversation)
    state = FakeState([*start.tokens, *spelled])
    return kept_after(call, start, Assistant(text), state, TOKENS)


def start(
    kept: Kept, request: Conversation, opening: Opening = Opening.REPLY
) -> tuple[Start, Start]:
    """The request's start from what is kept, and its twin's."""
    found = match(kept.conversation, request, opening)
    assert found is not None
    prompt = TEMPLATE.render(request, opening)
    warmed = warm(prompt, kept, found, TOKENS)
    assert warmed is not None
    return warmed, cold(prompt, TOKENS)


def branch(kept: Kept, chars: int) -> tuple[Start, Start]:
    reply = kept.conversation.items[-1]
    history = conversation([*kept.conversation.items[:-1], Assistant(reply.text[:chars])])
    return start(kept, history, Opening.CONTINUE)


def check(warmed: Start, twin: Start, kept: Kept) -> None:
    """What must hold of every warm start."""
    assert warmed.state is kept.state
    assert 0 < warmed.reuse <= len(kept.state.tokens)
    assert tuple(warmed.tokens[: warmed.reuse]) == tuple(kept.state.tokens[: warmed.reuse])
    assert shown(warmed.tokens) == shown(twin.tokens)
    assert warmed.counted == twin.counted == len(twin.tokens)
    for seam, position in warmed.seams.items():
        assert position.counted == twin.seams[seam].counted
        assert shown(warmed.tokens[: position.at]) == shown(twin.tokens[: twin.seams[seam].at])
    # The turn that is continued has no end yet.
    missing = twin.seams.keys() - warmed.seams.keys()
    assert missing <= {Seam(len(kept.conversation.items) - 1, True)}


SPELLED = [
    pytest.param("abc the sea", encode("abc the sea", False), id="as the tokeniser would"),
    pytest.param("abc the sea", in_bytes("abc the sea"), id="in other tokens"),
    pytest.param("abcé😀", in_bytes("abcé😀"), id="characters of several bytes"),
    pytest.param("", [], id="nothing"),
    pytest.param("<|im_end|>", in_bytes("<|im_end|>"), id="a control token as text"),
]


@pytest.mark.parametrize(("text", "spelled"), SPELLED)
def test_going_on_after_the_reply(text: str, spelled: list[int]) -> None:
    """FROM-2, FROM-6, FROM-7, FROM-9: everything kept is reused, whatever its tokens."""
    kept = keep(text, spelled)
    warmed, twin = start(kept, kept.conversation.plus(User("and?")))
    check(warmed, twin, kept)
    assert warmed.reuse == len(kept.state.tokens) == kept.end.at


@pytest.mark.parametrize(("text", "spelled"), SPELLED)
def test_branching_at_every_character(text: str, spelled: list[int]) -> None:
    """BRANCH-1: the text up to there, and no byte of what follows."""
    kept = keep(text, spelled)
    for chars in range(len(text) + 1):
        warmed, twin = branch(kept, chars)
        check(warmed, twin, kept)
        assert shown(warmed.tokens).endswith(f"assistant\n{text[:chars]}".encode())
        assert warmed.reuse >= kept.seams[Seam(1, False)].at


def test_a_branch_is_token_for_token_a_cold_prompt() -> None:
    """A few tokens are read again rather than spelled in another way."""
    text = "ab" * RETOKENISE_AT_MOST
    kept = keep(text, in_bytes(text))
    warmed, twin = branch(kept, len(text))
    assert warmed.tokens == twin.tokens
    assert warmed.reuse == kept.seams[Seam(1, False)].at


def test_a_long_reply_in_other_tokens_is_reused() -> None:
    """FROM-7: where reading again would cost more, the kept tokens stay as they are."""
    text = "ab" * (RETOKENISE_AT_MOST + 1)
    kept = keep(text, in_bytes(text))
    warmed, twin = branch(kept, len(text))
    check(warmed, twin, kept)
    assert warmed.reuse == len(kept.state.tokens) == len(warmed.tokens)
    assert warmed.tokens != twin.tokens


def test_the_part_spelled_alike_is_reused() -> None:
    kept = keep("xyzabc", [*in_bytes("xyz"), *in_bytes("abc")])
    warmed, twin = branch(kept, 6)
    assert warmed.tokens == twin.tokens
    assert warmed.reuse == kept.seams[Seam(1, False)].at + 3


def test_a_cut_token_is_spelled_again() -> None:
    """A branch in the middle of a long reply's token: the rest of the text, not of the token."""
    text = "xy" + "ab" * 10 + "abc"
    kept = keep(text, [*in_bytes(text[:-3]), *encode("abc", False)])
    warmed, twin = branch(kept, len(text) - 1)
    check(warmed, twin, kept)
    assert warmed.tokens[warmed.reuse :] == list(encode("ab", False))


def test_keeping_notes_every_seam() -> None:
    """Each turn's start and end, as tokens in the state and as usage counts them."""
    history: list[Item] = [User("go"), Assistant("abc"), User("on")]
    kept = keep("ab", in_bytes("ab"), history)
    twin = cold_start(conversation([*history, Assistant("ab"), User("x")]))
    assert kept.conversation.items == (*history, Assistant("ab"))
    assert kept.seams.keys() == {Seam(turn, end) for turn in (1, 3) for end in (False, True)}
    for seam, position in kept.seams.items():
        assert position.counted == twin.seams[seam].counted
    assert kept.end == Position(len(kept.state.tokens), twin.seams[Seam(3, True)].counted)
    assert kept.end.at == kept.end.counted + 1


def test_a_branch_is_kept_as_one_reply() -> None:
    """BRANCH-5: prefix and continuation together, wherever it is continued from."""
    kept = keep("abcabc", in_bytes("abcabc"))
    warmed, _ = branch(kept, 3)
    call = Call("m", conversation([*ASK, Assistant("abc")]), Opening.CONTINUE)
    state = FakeState([*warmed.tokens, *in_bytes(" the")])
    again = kept_after(call, warmed, Assistant(" the"), state, TOKENS)
    assert again.conversation == conversation([*ASK, Assistant("abc the")])
    check(*start(again, again.conversation.plus(User("?"))), again)
    for chars in range(8):
        check(*branch(again, chars), again)


def test_a_reply_that_carries_reasoning_on_is_kept_with_it() -> None:
    call = Call("m", conversation([*ASK, Assistant("ab", "hm")]), Opening.CONTINUE)
    begun = cold_start(call.conversation, Opening.CONTINUE)
    state = FakeState([*begun.tokens, *in_bytes("c")])
    kept = kept_after(call, begun, Assistant("c"), state, TOKENS)
    assert kept.conversation.items[-1] == Assistant("abc", "hm")
    request = conversation([*ASK, Assistant("a", "hm")])
    warmed, twin = start(kept, request, Opening.CONTINUE)
    check(warmed, twin, kept)
    assert shown(warmed.tokens).endswith(b"<think>hm</think>\n\na")


@pytest.mark.parametrize("chars", range(0, 25, 6))
def test_a_reply_laid_out_in_another_way_is_spelled_again(chars: int) -> None:
    """Its tokens are no spelling of what the client sent: none but the common ones is used."""
    call = Call("m", conversation(ASK))
    begun = cold_start(call.conversation)
    written = in_bytes("<think>hm</think>\nabc the sea is wide and so on")
    state = FakeState([*begun.tokens, *written])
    reply = Assistant("abc the sea is wide and so on", "hm")
    kept = kept_after(call, begun, reply, state, TOKENS)
    check(*branch_thoughtful(kept, chars), kept)


def branch_thoughtful(kept: Kept, chars: int) -> tuple[Start, Start]:
    reply = kept.conversation.items[-1]
    assert isinstance(reply, Assistant)
    cut = Assistant(reply.text[:chars], reply.reasoning)
    return start(kept, conversation([*ASK, cut]), Opening.CONTINUE)


def test_starting_at_an_earlier_turn() -> None:
    """A fork of what was there before the last reply."""
    history: list[Item] = [User("go"), Assistant("abc"), User("on")]
    kept = keep("ab", in_bytes("ab"), history)
    prompt = TEMPLATE.render(conversation([*history[:2], User("elsewhere")]))
    forked = from_seam(prompt, kept, Seam(1, True), TOKENS)
    assert forked is not None
    check(forked, cold(prompt, TOKENS), kept)
    assert forked.reuse == kept.seams[Seam(1, True)].at < kept.end.at


def test_there_is_no_start_where_there_is_no_seam() -> None:
    kept = keep("ab", in_bytes("ab"))
    prompt = TEMPLATE.render(kept.conversation.plus(User("x")))
    assert from_seam(prompt, kept, Seam(0, True), TOKENS) is None
    hidden = tuple(piece for piece in prompt if piece.seam != Seam(1, True))
    assert from_seam(hidden, kept, Seam(1, True), TOKENS) is None


def test_a_template_that_hides_the_reply_gives_no_start() -> None:
    """Answered as an ordinary request instead."""
    users = ChatTemplate(
        "{% for m in messages if m['role'] == 'user' %}{{ m['content'] }}{% endfor %}"
    )
    kept = keep("ab", in_bytes("ab"))
    request = kept.conversation.plus(User("x"))
    found = match(kept.conversation, request, Opening.REPLY)
    assert found and warm(users.render(request), kept, found, TOKENS) is None


def test_reasoning_a_template_drops_later() -> None:
    """The state still holds it; what follows is read on from the reply's end."""
    forgetful = ChatTemplate(FORGETFUL)
    call = Call("m", conversation(ASK))
    begun = cold(forgetful.render(call.conversation), TOKENS)
    spelled = encode("<think>hm</think>\n\nabc", False)
    state = FakeState([*begun.tokens, *spelled])
    kept = kept_after(call, begun, Assistant("abc", "hm"), state, TOKENS)
    request = kept.conversation.plus(User("x"))
    prompt = forgetful.render(request)
    found = match(kept.conversation, request, Opening.REPLY)
    assert found
    warmed = warm(prompt, kept, found, TOKENS)
    assert warmed is not None and warmed.reuse == kept.end.at
    assert shown(warmed.tokens[warmed.reuse :]).startswith(b"<|im_end|>\n<|im_start|>user\nx")
