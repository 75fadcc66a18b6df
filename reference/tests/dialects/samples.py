"""Reply-event runs for the dialect tests: some by hand, any by hypothesis."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from halogen_reference.conversation import Assistant
from halogen_reference.reply import (
    Admitted,
    CallDelta,
    CallEnd,
    CallStart,
    Candidate,
    Finish,
    ReasoningDelta,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
    TokenLogprob,
    Usage,
)

USAGE = Usage(prompt=12, cached=5, output=7, reasoning=2)


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Calling:
    id: str
    name: str
    pieces: tuple[str, ...] = ()
    cut: bool = False


Piece = str | Think | Calling | TextDelta


def run(
    *pieces: Piece,
    finish: Finish = Finish.END_OF_TURN,
    usage: Usage = USAGE,
    stop_string: str | None = None,
) -> list[ReplyEvent]:
    """A whole reply's events. Strings are text; the rest is spelled out."""
    return [
        Admitted(usage),
        *_deltas(pieces),
        ReplyEnd(finish, usage, Assistant(""), stop_string),
    ]


def _deltas(pieces: tuple[Piece, ...]) -> Iterator[ReplyEvent]:
    index = 0
    for piece in pieces:
        match piece:
            case str(text):
                yield TextDelta(text)
            case TextDelta():
                yield piece
            case Think(text):
                yield ReasoningDelta(text)
            case Calling(call_id, name, arguments, cut):
                yield CallStart(index, call_id, name)
                for part in arguments:
                    yield CallDelta(index, part)
                if not cut:
                    yield CallEnd(index)
                index += 1


def with_logprobs(text: str, *tokens: str) -> TextDelta:
    """A text delta whose tokens each had one other candidate."""
    return TextDelta(
        text,
        tuple(
            TokenLogprob(
                Candidate(token, -0.5, token.encode()),
                (Candidate(token, -0.5, token.encode()), Candidate("?", float("-inf"), b"?")),
            )
            for token in tokens
        ),
    )


def _split(text: str, cuts: list[int]) -> tuple[str, ...]:
    places = sorted({min(cut, len(text)) for cut in cuts})
    return tuple(text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True))


json_values: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
_objects = st.dictionaries(st.text(max_size=8), json_values, max_size=4).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)
_arguments = st.one_of(
    _objects,
    st.sampled_from(
        ['{"a": 1', '{"a": "x', '{"a": tru', '{"a" 1}', "[1, 2]", "", "go", '{"a":1}}']
    ),
    st.text(max_size=12),
)
_calls = st.builds(
    lambda text, cuts, name: (name, _split(text, cuts)),
    _arguments,
    st.lists(st.integers(0, 30), max_size=4),
    st.sampled_from(["look", "write_file", "a-b"]),
)
_texts = st.text(max_size=8)


@st.composite
def runs(draw: st.DrawFn) -> list[ReplyEvent]:
    """Any run an engine may produce, cut or whole, in any order of parts."""
    kinds = ["text", "text", "held", "think", "call"]
    pieces: list[Piece] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=8))):
        if kind == "text":
            pieces.append(draw(_texts))
        elif kind == "held":  # a token whose text is still to come
            pieces.append(with_logprobs("", "a"))
        elif kind == "think":
            pieces.append(Think(draw(_texts)))
        else:
            name, parts = draw(_calls)
            pieces.append(Calling(f"id{number}", name, parts))
    finish = draw(st.sampled_from(Finish))
    if pieces and isinstance(last := pieces[-1], Calling) and finish is Finish.LENGTH:
        pieces[-1] = Calling(last.id, last.name, last.pieces, cut=True)
    usage = Usage(
        prompt=draw(st.integers(1, 9999)),
        cached=0,
        output=draw(st.integers(0, 9999)),
        reasoning=0,
    )
    stop = "END" if finish is Finish.STOP_STRING else None
    return run(*pieces, finish=finish, usage=usage, stop_string=stop)
