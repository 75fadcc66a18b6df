"""From a prompt and, perhaps, a kept conversation to the tokens a job starts from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from halogen_reference import tool_form
from halogen_reference.call import Call, Opening
from halogen_reference.conversation import Assistant
from halogen_reference.engine.protocol import State
from halogen_reference.engine.text import tokens_within
from halogen_reference.prompt import Piece, Prompt, Seam, after
from halogen_reference.sessions.kept import Kept, Position
from halogen_reference.sessions.matching import Inside, Match

RETOKENISE_AT_MOST = 8
"""Tokens of a partial reply that may be evaluated again so that a branch is, token for token, what
a server without the state would see. Where the reply's own spelling differs by more, the kept
tokens win: cost stays about the new text (FROM-7)."""


class Tokens(NamedTuple):
    """The tokeniser's two directions, as the engine offers them."""

    encode: Callable[[str, bool], Sequence[int]]
    """Text and whether control tokens count, to tokens."""
    piece: Callable[[int], bytes]


@dataclass(slots=True)
class Start:
    """Where a job starts: all prompt tokens, and how many of them a state already holds."""

    tokens: list[int] = field(default_factory=list)
    state: State | None = None
    reuse: int = 0
    counted: int = 0
    """Prompt tokens as usage reports them, see :class:`Position`."""
    seams: dict[Seam, Position] = field(default_factory=dict)

    @property
    def position(self) -> Position:
        return Position(len(self.tokens), self.counted)

    def add(self, pieces: Sequence[Piece], encode: Callable[[str, bool], Sequence[int]]) -> "Start":
        """Append pieces, each tokenised on its own, and note the seams passed."""
        for piece in pieces:
            tokens = encode(piece.text, piece.special) if piece.text else ()
            self.tokens.extend(tokens)
            self.counted += len(tokens)
            if piece.seam is not None:
                self.seams[piece.seam] = self.position
        return self


def cold(prompt: Prompt, tokens: Tokens) -> Start:
    """Start from nothing: every prompt token is evaluated."""
    return Start().add(prompt, tokens.encode)


def warm(prompt: Prompt, kept: Kept, match: Match, tokens: Tokens) -> Start | None:
    """Start from a kept conversation that the request repeats.

    None when the model's template hides where the reply ends, so that it cannot be continued.
    """
    reply = len(kept.conversation.items) - 1
    if isinstance(match, Inside):
        return _inside(kept, reply, match.chars, tokens)
    return from_seam(prompt, kept, Seam(reply, True), tokens)


def from_seam(prompt: Prompt, kept: Kept, seam: Seam, tokens: Tokens) -> Start | None:
    """Start from a kept conversation's tokens up to a seam, the prompt going on from there."""
    rest, position = after(prompt, seam), kept.seams.get(seam)
    if rest is None or position is None:
        return None
    return _upto(kept, position).add(rest, tokens.encode)


def _upto(kept: Kept, position: Position) -> Start:
    return Start(
        tokens=list(kept.state.tokens[: position.at]),
        state=kept.state,
        reuse=position.at,
        counted=position.counted,
        seams={seam: there for seam, there in kept.seams.items() if there.at <= position.at},
    )


def _inside(kept: Kept, reply: int, chars: int, tokens: Tokens) -> Start | None:
    """Start inside the reply, after the first ``chars`` characters of its text."""
    opened = kept.seams.get(Seam(reply, False))
    if opened is None:
        return None
    turn = kept.conversation.items[reply]
    assert isinstance(turn, Assistant)
    partial = tool_form.turn(Assistant(turn.text[:chars], turn.reasoning))
    own = kept.state.tokens[opened.at :]
    fresh = tokens.encode(partial, False)
    same = next((i for i, (a, b) in enumerate(zip(own, fresh, strict=False)) if a != b), None)
    same = min(len(own), len(fresh)) if same is None else same
    count, covered = tokens_within(map(tokens.piece, own), len(partial))
    spelled = b"".join(map(tokens.piece, own[:count])).decode("utf-8", "replace")
    # A model may lay out its reasoning and calls in another way than they are read back.
    differs = spelled != partial[:covered]
    if len(fresh) - same <= RETOKENISE_AT_MOST or same >= count or differs:
        rest = fresh[same:]
    else:
        same, rest = count, tokens.encode(partial[covered:], False)
    start = _upto(kept, Position(opened.at + same, opened.counted))
    start.tokens.extend(rest)
    start.counted = opened.counted + len(fresh)
    start.seams = {seam: there for seam, there in kept.seams.items() if there.at <= opened.at}
    return start


def kept_after(call: Call, start: Start, reply: Assistant, state: State, tokens: Tokens) -> Kept:
    """What a finished reply leaves to be kept; ``state`` ends where the reply ends.

    A continued turn is one reply, the part sent and the part generated together (BRANCH-5).
    """
    history = call.conversation
    if call.opening is Opening.CONTINUE:
        partial = history.items[-1]
        assert isinstance(partial, Assistant)
        reply = replace(
            reply, text=partial.text + reply.text, reasoning=partial.reasoning or reply.reasoning
        )
        history = replace(history, items=history.items[:-1])
    turn = len(history.items)
    opened = start.seams.get(Seam(turn, False), start.position)
    counted = opened.counted + len(tokens.encode(tool_form.turn(reply), False))
    end = Position(len(state.tokens), counted)
    return Kept(history.plus(reply), state, {**start.seams, Seam(turn, True): end})
