"""When the simulated model calls a tool: when it must, and when the last user message asks for it.

It asks by the words "use a tool" ("use tools" for two calls at once) or by "use" or "call" and a
tool's name.
"""

import json
import re
from collections.abc import Sequence

from halogen_reference import tool_form
from halogen_reference.call import ChoiceMode
from halogen_reference.conversation import Assistant, Tool, ToolCall, canonical_json
from halogen_reference.engine.protocol import Job
from halogen_simulator.arguments import fitting
from halogen_simulator.vocabulary import CLOSE_MARK, OPEN_MARK
from halogen_simulator.writer import Writer, open_turn

_ASKED = re.compile(r"\buse (?:a |one )?tool\b|\buse (?:two |some )?(tools)\b", re.IGNORECASE)


def last_message(data: bytes) -> tuple[str, str]:
    """Role and text of the last closed message that was read; ``("", "")`` when there is none."""
    closed = data.rfind(CLOSE_MARK)
    if closed < 0:
        return "", ""
    message = data[:closed].rpartition(OPEN_MARK)[2]
    role, _, text = message.partition(b"\n")
    return role.decode("utf-8", "replace"), text.decode("utf-8", "replace")


def planned_calls(writer: Writer, job: Job, data: bytes) -> bytes | None:
    """What is still to be said of a turn that calls tools; None when no tool is to be called."""
    choice = job.tool_choice
    if not job.tools or choice.mode is ChoiceMode.NONE:
        return None
    text = open_turn(data)
    digest = writer.digest(data[: len(data) - len(text)])
    if choice.mode is ChoiceMode.REQUIRED:
        usable = [tool for tool in job.tools if choice.name in (None, tool.name)]
        whole = tool_form.turn(
            Assistant("", None, (_call(_pick(usable, digest), digest),))
        ).encode()
        return whole[len(text) :] if whole.startswith(text) else b"\n" + whole
    wanted = _asked_for(job.tools, data, digest)
    if not wanted:
        return None
    calls = tuple(_call(tool, writer.digest(digest, b"%d" % at)) for at, tool in enumerate(wanted))
    said = "Let me look." if digest[5] < 128 else ""
    whole = tool_form.turn(Assistant(said, None, calls)).encode()
    return whole[len(text) :] if whole.startswith(text) else None


def _asked_for(tools: Sequence[Tool], data: bytes, digest: bytes) -> list[Tool]:
    role, text = last_message(data)
    if role != "user":
        return []
    named = [
        tool
        for tool in tools
        if re.search(rf"\b(?:use|call) (?:the )?{re.escape(tool.name)}\b", text)
    ]
    if named:
        return named
    asked = _ASKED.search(text)
    if not asked:
        return []
    first = _pick(tools, digest)
    return [first, _pick(tools, digest[1:])] if asked[1] else [first]


def _pick(tools: Sequence[Tool], digest: bytes) -> Tool:
    return tools[digest[0] % len(tools)]


def _call(tool: Tool, digest: bytes) -> ToolCall:
    value = fitting(json.loads(tool.parameters), digest)
    return ToolCall("", tool.name, canonical_json(value if isinstance(value, dict) else {}))
