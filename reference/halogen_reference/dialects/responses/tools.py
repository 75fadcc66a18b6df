"""Tools and ``tool_choice`` of a Responses request."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from halogen_reference.call import ChoiceMode, ToolChoice
from halogen_reference.conversation import Tool
from halogen_reference.dialects.fields import Fields
from halogen_reference.dialects.responses.namespaces import flat_name
from halogen_reference.dialects.tools import (
    allowed_calls,
    any_call,
    distinct,
    named_call,
    read_tool,
)

_WORDS = ("none", "auto", "required")


def read_tools(body: Fields) -> tuple[list[Tool], dict[str, tuple[str, str]]]:
    """The functions on offer, and which of them stand in a namespace.

    Tools of other types (web search, grammars) are left out: clients list them whatever the server
    can do, and go on without them.
    """
    tools: list[Tool] = []
    namespaces: dict[str, tuple[str, str]] = {}
    for namespace, function in _functions(body):
        tool = read_tool(function, "parameters")
        if namespace:
            flat = flat_name(namespace, tool.name)
            namespaces[flat] = (namespace, tool.name)
            tool = replace(tool, name=flat)
        tools.append(tool)
    return distinct(tools, body), namespaces


def _functions(body: Fields) -> Iterator[tuple[str | None, Fields]]:
    for tool in body.records("tools") or ():
        kind = tool.need_text("type")
        if kind == "function":
            yield None, tool
        elif kind == "namespace":
            name = tool.need_name("name")
            for inner in tool.records("tools") or ():
                if inner.need_text("type") == "function":
                    yield name, inner


def read_tool_choice(body: Fields, tools: Sequence[Tool]) -> ToolChoice:
    """``tool_choice`` and ``parallel_tool_calls``. Raises RequestError 400 for a choice that is not
    on offer."""
    parallel = body.flag("parallel_tool_calls") is not False
    return replace(_calls_allowed(body, tools), parallel=parallel)


def _calls_allowed(body: Fields, tools: Sequence[Tool]) -> ToolChoice:
    value = body.data.get("tool_choice")
    if value is None:
        return ToolChoice()
    if isinstance(value, str):
        word = body.one_of("tool_choice", _WORDS)
        if word == "required":
            return any_call(body, "tool_choice", tools)
        # "auto" without tools is no error here: Codex always sends it.
        return ToolChoice(ChoiceMode.NONE if word == "none" else ChoiceMode.AUTO)
    choice = body.need_record("tool_choice")
    if choice.need_one_of("type", ("function", "allowed_tools")) == "function":
        return named_call(choice, tools, _flat(choice))
    names = [
        _flat(entry) for entry in choice.need_records("tools") if entry.text("type") == "function"
    ]
    return allowed_calls(choice, names, tools)


def _flat(function: Fields) -> str:
    return flat_name(function.text("namespace"), function.need_name("name"))
