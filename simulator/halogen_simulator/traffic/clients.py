"""What differs between versions and modes of the client, as data."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

_TEXT = {"type": "string"}


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": f"{name} tool", "input_schema": schema}


_AGENT = _tool("Agent", description=_TEXT, prompt=_TEXT, subagent_type=_TEXT, model=_TEXT)
_TASK = _tool("Task", description=_TEXT, prompt=_TEXT, subagent_type=_TEXT)
_BASH = _tool("Bash", command=_TEXT, timeout={"type": "number"}, description=_TEXT)
_EDIT = _tool("Edit", file_path=_TEXT, old_string=_TEXT, new_string=_TEXT)
_READ = _tool("Read", file_path=_TEXT, offset={"type": "integer"}, limit={"type": "integer"})
_SKILL = _tool("Skill", skill=_TEXT, args=_TEXT)
_WRITE = _tool("Write", file_path=_TEXT, content=_TEXT)


@dataclass(frozen=True, slots=True)
class Client:
    """One version in one mode. Where a field says so, it was only described to us, not seen."""

    about: str
    version: str
    entrypoint: str
    """``sdk-cli`` in print mode, ``cli`` at a prompt."""
    betas: str
    calls_agents: str
    """The tool that starts a subagent."""
    tools: tuple[dict[str, Any], ...]
    subagent_tools: tuple[dict[str, Any], ...]
    session_in: Literal["header", "metadata"] = "header"
    """``metadata``: in ``metadata.user_id`` alone, as one long word."""
    names_agents: bool = True
    """Subagents say which they are. Without that, their requests look like the main thread's."""
    forks: bool = True
    """Subagents may be forks."""
    attribution: bool = True
    """``system`` begins with the attribution line."""
    suffix: bool = True
    """The attribution line's version has a part that differs between requests."""
    content_hash: bool = False
    """The attribution line carries ``cch=``, another one each time."""
    system_messages: bool = True
    """``role: system`` messages stand in the middle of ``messages``."""
    keeps_last_reply: bool = True
    """After a compaction the last reply follows the summary."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further body fields of conversations."""

    @property
    def user_agent(self) -> str:
        return f"claude-cli/{self.version} (external, {self.entrypoint})"


_NOW = {
    "max_tokens": 128000,
    "thinking": {"type": "adaptive", "display": "omitted"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "medium"},
}
_NOW_BETAS = (
    "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,"
    "per-turn-control-2026-07-01,mid-conversation-tool-changes-2026-07-01,"
    "thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24"
)

_PRINTING = Client(
    about="print mode, as recorded",
    version="2.1.332",
    entrypoint="sdk-cli",
    betas=_NOW_BETAS,
    calls_agents="Agent",
    tools=(_AGENT, _BASH, _EDIT, _READ, _SKILL, _WRITE),
    subagent_tools=(_BASH, _EDIT, _READ, _SKILL, _WRITE),
    extra=_NOW,
)

CLIENTS: dict[str, Client] = {
    "2.1.332": _PRINTING,
    "2.1.332-prompt": replace(
        _PRINTING,
        about="at a prompt: the attribution line differs in every request",
        entrypoint="cli",
        content_hash=True,
    ),
    "1.0.100": Client(
        about="print mode, as seen: no ids of sessions or agents but one long user_id",
        version="1.0.100",
        entrypoint="sdk-cli",
        betas=(
            "claude-code-20250219,interleaved-thinking-2025-05-14,"
            "fine-grained-tool-streaming-2025-05-14"
        ),
        calls_agents="Task",
        tools=(_TASK, _BASH, _EDIT, _READ, _WRITE),
        subagent_tools=(_BASH, _EDIT, _READ, _WRITE),
        session_in="metadata",
        names_agents=False,
        forks=False,
        attribution=False,
        system_messages=False,
        keeps_last_reply=False,
        extra={"max_tokens": 32000, "temperature": 1},
    ),
}
DEFAULT = "2.1.332"
