"""The grammar that makes a reply a tool call, for requests that demand one."""

import json
from collections.abc import Sequence

from llama_cpp.llama_grammar import json_schema_to_gbnf

from halogen_reference.call import ChoiceMode, ToolChoice
from halogen_reference.conversation import Tool
from halogen_reference.tool_form import CALL_CLOSE, CALL_OPEN

_ANY_OBJECT = {"type": "object"}


def call_grammar(tools: Sequence[Tool], choice: ToolChoice) -> str | None:
    """GBNF for one call of one of the tools, or None when the reply need not be a call.

    A schema that cannot be turned into a grammar is replaced by "any object": the call is made,
    its arguments are the model's own.
    """
    if choice.mode is not ChoiceMode.REQUIRED:
        return None
    wanted = [tool for tool in tools if choice.name in (None, tool.name)]
    calls = [_call(tool, json.loads(tool.parameters)) for tool in wanted]
    try:
        rules = json_schema_to_gbnf(json.dumps({"anyOf": calls}))
    except Exception:  # the converter raises whatever it stumbles over
        calls = [_call(tool, _ANY_OBJECT) for tool in wanted]
        rules = json_schema_to_gbnf(json.dumps({"anyOf": calls}))
    renamed = [
        "call" + line.removeprefix("root") if line.startswith("root ::=") else line
        for line in rules.splitlines()
    ]
    opened, closed = json.dumps(CALL_OPEN + "\n"), json.dumps("\n" + CALL_CLOSE)
    return "\n".join([f"root ::= {opened} call {closed}", *renamed])


def _call(tool: Tool, schema: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": schema},
        "required": ["name", "arguments"],
    }
