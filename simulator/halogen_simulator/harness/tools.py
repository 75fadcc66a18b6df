"""The tools of the harness: a few that harm nothing, and scripted ones from a file."""

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from halogen_conformance.drivers.conversation import Call, Tool

MOST_BYTES = 16 * 1024
"""Of a file that ``read_file`` gives to the model."""


class ToolsError(Exception):
    """A file of scripted tools that cannot be used; one line for the person who wrote it."""


class ToolFailed(Exception):
    """The call cannot be carried out; the message is what the model is told."""


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output as the model reads it, or why the call failed."""

    text: str
    is_error: bool = False


Run = Callable[[Mapping[str, Any]], str]
"""From a call's arguments to its output. Raises ToolFailed."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools by name, each with what it does."""

    tools: Mapping[str, tuple[Tool, Run]] = field(default_factory=dict)

    @property
    def offered(self) -> tuple[Tool, ...]:
        return tuple(tool for tool, _ in self.tools.values())

    def run(self, call: Call) -> Output:
        """Carry out a call. Never raises: whatever is wrong with it is told to the model."""
        try:
            if call.name not in self.tools:
                raise ToolFailed(f"there is no tool {call.name!r}")
            return Output(self.tools[call.name][1](_arguments(call.arguments)))
        except ToolFailed as failed:
            return Output(str(failed), is_error=True)


def built_in(folder: Path | None = None) -> Toolbox:
    """``calculate`` and ``count_words``; with a folder also ``read_file``, for what is below it."""
    tools: dict[str, tuple[Tool, Run]] = {
        "calculate": (_tool("calculate", "Work out an expression of + - * /.", "expression"), _sum),
        "count_words": (_tool("count_words", "Count the words of a text.", "text"), _count),
    }
    if folder is not None:
        about = "Read a text file. The path is relative to the folder that may be read."
        tools["read_file"] = (_tool("read_file", about, "path"), _reader(folder))
    return Toolbox(tools)


def _tool(name: str, about: str, argument: str) -> Tool:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}}
    return Tool(name, about, schema | {"required": [argument]})


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        raise ToolFailed("the arguments are not JSON") from None
    if not isinstance(value, dict):
        raise ToolFailed("the arguments must be a JSON object")
    return value


def _text_of(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolFailed(f"{name!r} must be a text")
    return value


_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def _sum(arguments: Mapping[str, Any]) -> str:
    text = _text_of(arguments, "expression")
    # Nothing that a person would write is longer, and the parser's depth is bounded by it.
    if len(text) > 200:
        raise ToolFailed("the expression has more than 200 characters")
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body)
        # Too large for a number is infinite, and that has no whole part.
        return str(int(value)) if value == int(value) else repr(value)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ToolFailed(f"the expression cannot be worked out: {error}") from None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(str(node.value))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    raise ValueError("only numbers, brackets and + - * / are understood")


def _count(arguments: Mapping[str, Any]) -> str:
    return str(len(_text_of(arguments, "text").split()))


def _reader(folder: Path) -> Run:
    home = folder.resolve()

    def read(arguments: Mapping[str, Any]) -> str:
        asked = _text_of(arguments, "path")
        try:
            path = (home / asked).resolve()
            if not path.is_relative_to(home):
                raise ToolFailed(f"{asked}: outside the folder that may be read")
            if not path.is_file():
                raise ToolFailed(f"{asked}: there is no such file")
            with path.open("rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            raise ToolFailed(f"{asked!r} cannot be read: {error}") from None

    return read


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    when: str = ""
    """Regular expression on the arguments as JSON."""
    say: str
    is_error: bool = False


class _Scripted(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(pattern=r"^[\w-]{1,64}$")]
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    answers: Annotated[list[_Answer], Field(min_length=1)]


def scripted(path: Path) -> Toolbox:
    """Tools from a YAML or JSON file: a list, each with a name and its answers; the first answer
    whose ``when`` is found in the arguments is given. Raises ToolsError."""
    import yaml  # slow to import, and only these files need it

    try:
        value = yaml.safe_load(path.read_text("utf-8"))
        entries = TypeAdapter(list[_Scripted]).validate_python(value)
        return Toolbox({entry.name: _prepared(entry) for entry in entries})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        reason = f"{where}: {first['msg']}"
    except yaml.YAMLError as error:
        reason = f"it is not YAML: {' '.join(str(error).split())}"
    except (OSError, ValueError, re.error) as error:
        reason = str(error)
    raise ToolsError(f"the tools of {path} cannot be used: {reason}")


def _prepared(entry: _Scripted) -> tuple[Tool, Run]:
    answers = [(re.compile(answer.when), answer) for answer in entry.answers]

    def run(arguments: Mapping[str, Any]) -> str:
        text = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        for pattern, answer in answers:
            if pattern.search(text):
                if answer.is_error:
                    raise ToolFailed(answer.say)
                return answer.say
        raise ToolFailed(f"{entry.name} has no answer to {text}")

    return Tool(entry.name, entry.description, entry.parameters), run


def merged(boxes: Sequence[Toolbox]) -> Toolbox:
    """One box of all tools; of two with one name the later is taken."""
    return Toolbox({name: tool for box in boxes for name, tool in box.tools.items()})
