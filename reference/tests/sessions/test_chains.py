"""FROM-6 along any chain of keeps, continuations and branches: the model reads the same text, and
usage counts the same tokens, as on a server that holds nothing."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant, Conversation, Item, System, User, conversation
from halogen_reference.prompt import ChatTemplate
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.matching import match
from halogen_reference.sessions.start import cold, kept_after, warm
from tests.prompt.templates import BEGIN
from tests.sessions.fakes import TOKENS, FakeState, encode, shown, spellings

TEMPLATE = ChatTemplate(BEGIN, {"bos_token": "<|im_start|>"})
# Texts whose tokens depend on how they are cut, and control tokens that are only text.
TEXTS = st.lists(
    st.sampled_from(["ab", "c", "the ", "é", "😀", "\n", "x", "<|im_end|>"]), max_size=9
).map("".join)


@dataclass
class Chain:
    """All that was kept so far, and a request's way through it."""

    data: st.DataObject
    kept: list[Kept] = field(default_factory=list)

    def step(self) -> None:
        """Ask something, starting from any kept conversation or from none; keep the answer."""
        begun = self.data.draw(st.sampled_from([None, *self.kept]))
        request, opening = self.request(begun)
        prompt = TEMPLATE.render(request, opening)
        start = twin = cold(prompt, TOKENS)
        if begun is not None:
            found = match(begun.conversation, request, opening)
            assert found is not None
            warmed = warm(prompt, begun, found, TOKENS)
            assert warmed is not None
            start = warmed
            assert start.tokens[: start.reuse] == list(begun.state.tokens[: start.reuse])
        assert shown(start.tokens) == shown(twin.tokens)
        assert start.counted == twin.counted == len(twin.tokens)
        reply = self.data.draw(TEXTS)
        # As an engine does: tokens of its own choice, and a cut one spelled again.
        tail = self.data.draw(st.integers(0, len(reply)))
        written = self.data.draw(spellings(reply[:tail])) + list(encode(reply[tail:], False))
        state = FakeState([*start.tokens, *written])
        call = Call("m", request, opening)
        self.kept.append(kept_after(call, start, Assistant(reply), state, TOKENS))

    def request(self, begun: Kept | None) -> tuple[Conversation, Opening]:
        said = self.data.draw(TEXTS)
        if begun is None:
            return conversation([System(self.data.draw(TEXTS)), User(said)]), Opening.REPLY
        items = begun.conversation.items
        reply = items[-1]
        if reply.text and self.data.draw(st.booleans(), label="branch inside the reply"):
            chars = self.data.draw(st.integers(1, len(reply.text)))
            partial = Assistant(reply.text[:chars])
            return conversation([*items[:-1], partial]), Opening.CONTINUE
        more: list[Item] = [User(said)]
        if self.data.draw(st.booleans(), label="continue a turn of the client's"):
            more.append(Assistant(self.data.draw(TEXTS.filter(bool))))
            return conversation([*items, *more]), Opening.CONTINUE
        return conversation([*items, *more]), Opening.REPLY


@given(st.data(), st.integers(1, 6))
def test_warm_is_cold(data: st.DataObject, steps: int) -> None:
    chain = Chain(data)
    for _ in range(steps):
        chain.step()
    for kept in chain.kept:
        assert shown(kept.state.tokens) == shown(
            cold(TEMPLATE.render(kept.conversation, Opening.CONTINUE), TOKENS).tokens
        )
        assert kept.end.at == len(kept.state.tokens)
