"""What the sessions need of an engine, without one: a tokeniser and states.

The tokeniser has several spellings for most texts, as real ones do: what a model wrote need not be
what the tokeniser would have written.
"""

from collections.abc import Sequence

from hypothesis import strategies as st

from halogen_reference.conversation import Conversation
from halogen_reference.engine.protocol import State
from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.start import Tokens

CONTROL = {"<|im_start|>": 1000, "<|im_end|>": 1001}
CONTROL_TEXTS = {token: text.encode() for text, token in CONTROL.items()}
_MERGES = ["ab", "abc", "bc", "the ", " the", "he", "é", "ü", "😀", "ab😀", "\n\n"]
# One token for every byte, one for each merge, and two for the halves of a character.
PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(text.encode() for text in _MERGES),
    "😀".encode()[:2],
    "😀".encode()[2:],
]
_BY_START = {
    start: [token for token, piece in enumerate(PIECES) if piece[0] == start]
    for start in range(256)
}


def choices(data: bytes, at: int) -> list[int]:
    """Every token that may come next, the longest first."""
    found = [token for token in _BY_START[data[at]] if data.startswith(PIECES[token], at)]
    return sorted(found, key=lambda token: -len(PIECES[token]))


def encode(text: str, special: bool) -> Sequence[int]:
    """The tokeniser's own spelling: greedy, the longest token first."""
    tokens: list[int] = []
    data, at = text.encode(), 0
    while at < len(data):
        control = next((c for c in CONTROL if special and data.startswith(c.encode(), at)), None)
        token = CONTROL[control] if control else choices(data, at)[0]
        tokens.append(token)
        at += len(CONTROL_TEXTS.get(token) or PIECES[token])
    return tokens


def piece(token: int) -> bytes:
    return b"" if token in CONTROL_TEXTS else PIECES[token]


TOKENS = Tokens(encode, piece)


def shown(tokens: Sequence[int]) -> bytes:
    """The text tokens stand for, control tokens in full: what a model reads."""
    return b"".join(CONTROL_TEXTS.get(token) or PIECES[token] for token in tokens)


def in_bytes(text: str) -> list[int]:
    """The longest spelling of all: a token a byte."""
    return list(text.encode())


@st.composite
def spellings(draw: st.DrawFn, text: str) -> list[int]:
    """Any way in which a model may have written a text."""
    tokens: list[int] = []
    data, at = text.encode(), 0
    while at < len(data):
        token = draw(st.sampled_from(choices(data, at)))
        tokens.append(token)
        at += len(PIECES[token])
    return tokens


class FakeState:
    """A state that counts its references and forgives nothing."""

    def __init__(self, tokens: Sequence[int] = ()) -> None:
        self._tokens = tuple(tokens)
        self.references = 1

    @property
    def tokens(self) -> Sequence[int]:
        return self._tokens

    @property
    def size(self) -> int:
        return len(self._tokens)

    def retain(self) -> State:
        assert self.references > 0, "a released state was used"
        self.references += 1
        return self

    def release(self) -> None:
        assert self.references > 0, "a state was released twice"
        self.references -= 1


def kept(state: FakeState | None = None) -> Kept:
    """Something to keep where only its state matters."""
    return Kept(Conversation(()), state or FakeState(), {})


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now
