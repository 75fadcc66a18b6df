"""The plain text form of tools: how calls and results are written for the model.

It is the form many open models were trained on: the tools as JSON inside ``<tools>``, a call as
``<tool_call>`` with one JSON object, a result as ``<tool_response>``. A template that offers tools
in this form itself is used for the offer; one that does not gets the offer below appended to its
system text.
"""

import json
from collections.abc import Sequence

from halogen_reference.conversation import Assistant, Tool, ToolCall, ToolResult

CALL_OPEN = "<tool_call>"
CALL_CLOSE = "</tool_call>"
THINK_OPEN = "<think>"
THINK_CLOSE = "</think>"

_OFFER = """# Tools

You may call one or more of these functions, each given as JSON inside <tools></tools>:
<tools>
{tools}
</tools>

To call one, write a JSON object with its name and arguments inside <tool_call></tool_call>:
<tool_call>
{{"name": <name>, "arguments": <arguments as a JSON object>}}
</tool_call>"""


def declarations(tools: Sequence[Tool]) -> list[dict[str, object]]:
    """The tools as the JSON objects chat templates expect."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.loads(tool.parameters),
            },
        }
        for tool in tools
    ]


def offer(system: str, tools: Sequence[Tool]) -> str:
    """A system text with the tools offered at its end."""
    lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in declarations(tools))
    text = _OFFER.format(tools=lines)
    return f"{system}\n\n{text}" if system else text


def call(call: ToolCall) -> str:
    """One call, as the model writes it."""
    name = json.dumps(call.name, ensure_ascii=False)
    return f'{CALL_OPEN}\n{{"name": {name}, "arguments": {call.arguments}}}\n{CALL_CLOSE}'


def turn(turn: Assistant) -> str:
    """A whole assistant turn: reasoning, text, calls."""
    reasoning = "" if turn.reasoning is None else f"{THINK_OPEN}{turn.reasoning}{THINK_CLOSE}\n\n"
    parts = [text for text in (reasoning + turn.text, *map(call, turn.calls)) if text]
    return "\n".join(parts)


def result_text(result: ToolResult) -> str:
    """What a tool returned; a failed call says so."""
    return f"Error: {result.text}" if result.is_error else result.text


def result(result: ToolResult) -> str:
    """A tool's result as a user message, for templates without a tool role."""
    return f"<tool_response>\n{result_text(result)}\n</tool_response>"
