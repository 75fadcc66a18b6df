"""Tool definitions, tool calls and ``tool_choice``, as far as the routes have them in common."""

from collections.abc import Sequence

from halogen_reference.call import ChoiceMode, ToolChoice
from halogen_reference.conversation import Tool, ToolCall, canonical_arguments
from halogen_reference.dialects.fields import Fields, canonical_field, quote
from halogen_reference.dialects.ids import bare_call_id


def read_tool(definition: Fields, schema: str) -> Tool:
    """A tool from an object with its name; ``schema`` is the field that holds its parameters."""
    parameters = definition.record(schema)
    return Tool(
        name=definition.need_name("name"),
        description=definition.text("description") or "",
        parameters=canonical_field(
            parameters.data if parameters else {}, definition.path_of(schema)
        ),
    )


def distinct(tools: list[Tool], body: Fields) -> list[Tool]:
    """The same tools. Raises RequestError 400 when two share a name: a call would be ambiguous."""
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            raise body.fail("tools", f"holds two tools named {quote(tool.name)}.")
        seen.add(tool.name)
    return tools


def read_call(call_id: str, name: str, arguments: str) -> ToolCall:
    """A call from the history; ``arguments`` is JSON text (P07: compared as a value)."""
    return ToolCall(bare_call_id(call_id), name, canonical_arguments(arguments))


def any_call(choice: Fields, name: str, tools: Sequence[Tool]) -> ToolChoice:
    """The choice "some tool must be called", from the field ``name`` of ``choice``."""
    if not tools:
        raise choice.fail(name, "asks for a tool call, but the request offers no tools.")
    return ToolChoice(ChoiceMode.REQUIRED)


def named_call(choice: Fields, tools: Sequence[Tool], wanted: str | None = None) -> ToolChoice:
    """The choice "this tool must be called", from an object with its name."""
    name = choice.need_name("name")
    exposed = name if wanted is None else wanted
    if exposed not in {tool.name for tool in tools}:
        raise choice.fail("name", f"is {quote(name)}, which is not among the request's tools.")
    return ToolChoice(ChoiceMode.REQUIRED, exposed)


def allowed_calls(choice: Fields, names: Sequence[str], tools: Sequence[Tool]) -> ToolChoice:
    """The choice "only these tools", from an object with its mode.

    All of the tools, and exactly one that must be called, are choices this server has; it refuses
    the others rather than let the model call a tool it was denied.
    """
    mode = ChoiceMode(choice.need_one_of("mode", ("auto", "required")))
    offered = {tool.name for tool in tools}
    if unknown := [name for name in names if name not in offered]:
        raise choice.fail("tools", f"names {quote(unknown[0])}, which the request does not offer.")
    wanted = set(names)
    if wanted == offered and wanted:
        return ToolChoice(mode)
    if len(wanted) == 1 and mode is ChoiceMode.REQUIRED:
        return ToolChoice(mode, names[0])
    raise choice.fail(
        "tools", "must name every tool of the request, or one tool with mode 'required'."
    )
