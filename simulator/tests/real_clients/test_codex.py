"""Codex CLI against a simulator that a script leads: its provider's fixed headers name states."""

from pathlib import Path
from typing import Any

import pytest

from tests.real_clients.programs import environment, run
from tests.real_clients.stage import Stage, staged

pytestmark = [pytest.mark.real_clients, pytest.mark.timeout(600)]

SCRIPT: list[dict[str, Any]] = [
    {
        "when": {"role": "user", "text": "run a command"},
        "say": "I run it.",
        "calls": [{"name": "exec_command", "arguments": {"cmd": "echo hi"}}],
    },
    {"when": {"role": "tool"}, "say": "It said hi."},
]

CONFIGURATION = """
model = "sim"
model_provider = "halogen"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.halogen]
name = "halogen"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "HALOGEN_KEY"
http_headers = {{ "X-Halogen-Keep" = "codex" }}
env_http_headers = {{ "X-Halogen-From" = "HALOGEN_START" }}
request_max_retries = 0
stream_max_retries = 0
"""


def ask(stage: Stage, program: Path, home: Path, project: Path, *words: str) -> str:
    (home / "config.toml").write_text(CONFIGURATION.format(url=stage.url))
    env = environment(
        home, CODEX_HOME=str(home), HALOGEN_KEY="sk-example-key", HALOGEN_START="codex"
    )
    command = [str(program), "exec", "--skip-git-repo-check", "--json", *words]
    ended = run(command, env, project)
    assert ended.code == 0, ended
    return ended.out


def test_a_tool_loop(programs: dict[str, Path], tmp_path: Path, home: Path, project: Path) -> None:
    with staged(tmp_path, SCRIPT) as stage:
        said = ask(stage, programs["codex"], home, project, "Please run a command.")
        assert '"aggregated_output":"hi\\n"' in said and "It said hi." in said
        ask(stage, programs["codex"], home, project, "resume", "--last", "And what then?")

        answers = stage.answers()
        assert [played.outcome for played in answers] == ["unknown", "used", "used"]
        first, second, third = (played.cost or 0 for played in answers)
        assert first > 5000 and second < 500 and third < 500, "only what is new was read"
        (name,) = stage.handles()
        assert (name["name"], name["source"]) == ("codex", "header")
        assert stage.counted("responses", "used") == 2
        assert [cost for _, cost in stage.costs()] == [first, second, third]
