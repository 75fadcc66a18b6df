"""A session written to a file for somebody else."""

import json
from collections.abc import Iterator
from pathlib import Path

from halogen_simulator.harness.journal import SUFFIX, private
from halogen_simulator.harness.record import Block, Message, Text, ToolUse
from halogen_simulator.harness.transcript import Transcript


def export(transcript: Transcript, path: Path) -> None:
    """As a transcript when the file's name ends in ``.jsonl``, else as Markdown. Raises OSError;
    a file that is there already is not touched."""
    if path.suffix == SUFFIX:
        data = transcript.printed()
    else:
        data = as_text(transcript).encode("utf-8", "backslashreplace")
    try:
        with private(path, "xb") as file:
            file.write(data)
    except FileExistsError:
        raise FileExistsError(f"{path} is there already; export to another file") from None


def as_text(transcript: Transcript) -> str:
    """The transcript as Markdown, for people."""
    return "\n\n".join([f"# {transcript.session_id}", *_parts(transcript)]) + "\n"


def _parts(transcript: Transcript) -> Iterator[str]:
    if transcript.fork:
        name = transcript.fork.branch_name
        branch = f" as {name}" if name else ""
        yield f"Forked from {transcript.fork.parent_session_id}{branch}."
    for message in transcript.messages:
        yield f"## {message.role}"
        yield from (_block(block) for block in message.blocks)
        yield from _usage(message)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, ToolUse):
        return f"calls `{block.name}` with `{block.input}`"
    wrong = " failed" if block.is_error else ""
    return f"`{block.tool_name}`{wrong}: {json.dumps(block.output, ensure_ascii=False)}"


def _usage(message: Message) -> Iterator[str]:
    usage = message.usage
    if usage:
        reused = usage.cache_read_input_tokens
        yield f"({usage.evaluated} evaluated, {reused} reused, {usage.output_tokens} written)"
