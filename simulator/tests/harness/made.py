"""Messages and sessions for the tests, made by Hypothesis."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from halogen_simulator.harness.record import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    Usage,
)
from halogen_simulator.harness.transcript import Transcript

# How long an example takes says more about a shared machine than about the code.
SOME = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

# Whatever a model or a file may hold: line ends of every kind, half pairs, quotes.
TEXTS = st.text(max_size=12) | st.sampled_from(
    ["", "\n", "\r\n", "\u2028", "\x00", "\ud800", '{"type":"message"}', "東京 🧭", "}\n{"]
)
COUNTS = st.integers(0, 10**9)
USAGES = st.builds(
    Usage,
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cache_creation_input_tokens=COUNTS,
    cache_read_input_tokens=COUNTS,
)
BLOCKS = st.one_of(
    st.builds(Text, text=TEXTS),
    st.builds(ToolUse, id=TEXTS, name=TEXTS, input=TEXTS),
    st.builds(ToolResult, tool_use_id=TEXTS, tool_name=TEXTS, output=TEXTS, is_error=st.booleans()),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
    usage=st.none() | USAGES,
)


@st.composite
def sessions(draw: st.DrawFn, least: int = 0) -> Transcript:
    """Any session: new, forked, compacted."""
    transcript = Transcript.new()
    transcript.messages = draw(st.lists(MESSAGES, min_size=least, max_size=4))
    if draw(st.booleans()):
        transcript = transcript.forked(draw(st.none() | TEXTS))
    if draw(st.booleans()):
        transcript.compact(draw(TEXTS), draw(st.integers(0, len(transcript.messages))))
    return transcript


def message(text: str, role: str = "user") -> Message:
    return Message.model_validate({"role": role, "blocks": [{"type": "text", "text": text}]})


def same(one: Transcript, other: Transcript) -> bool:
    """Equal in all that a file must hold. The time of the last change is written with the whole
    file only."""
    return (
        one.session_id == other.session_id
        and one.created_at_ms == other.created_at_ms
        and one.messages == other.messages
        and one.compaction == other.compaction
        and one.fork == other.fork
    )
