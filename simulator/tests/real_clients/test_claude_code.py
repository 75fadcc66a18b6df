"""Claude Code itself against a simulator that a script leads (MAP)."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.real_clients.programs import KEY, PATIENCE_S, Ended, end_group, environment, run
from tests.real_clients.stage import Stage, staged

pytestmark = [pytest.mark.real_clients, pytest.mark.timeout(600)]

MAIN = {"x-claude-code-agent-id": "^$"}
HELPER = {"x-claude-code-agent-id": "."}


def call_helpers(kind: str) -> list[dict[str, Any]]:
    return [
        {
            "name": "Agent",
            "arguments": {"description": part, "prompt": f"Do {part}.", "subagent_type": kind},
        }
        for part in ("part A", "part B")
    ]


SUMMARY = {
    "when": {"text": "summary of the conversation", "headers": MAIN},
    "say": "<analysis>All was said.</analysis><summary>Two helpers did it.</summary>",
}
TITLE = {
    "when": {"system": "title", "turn": 1, "role": "user", "headers": MAIN},
    "say": '{"title": "Two helpers"}',
}
DONE = {"when": {"headers": HELPER}, "say": "My part is done."}
SPAWN = {
    # The last message is one of the system's: the question stands before it.
    "when": {"turn": 1, "role": "system", "headers": MAIN},
    "say": "I call two helpers.",
    "calls": call_helpers("general-purpose"),
}
LOOK = {
    "when": {"turn": 1, "headers": HELPER},
    "say": "I look.",
    "calls": [{"name": "Bash", "arguments": {"command": "echo hi", "description": "say hi"}}],
}
FORK = {
    "when": {"turn": 2, "role": "user", "headers": MAIN},
    "say": "I call two forks.",
    "calls": call_helpers("fork"),
}


class Claude:
    """The program with a home and a project of its own."""

    def __init__(
        self, program: Path, stage: Stage, home: Path, project: Path, **settings: str
    ) -> None:
        self.program, self.home, self.project = program, home, project
        self.env = environment(
            home,
            ANTHROPIC_BASE_URL=stage.url,
            ANTHROPIC_API_KEY=KEY,
            DISABLE_AUTOUPDATER="1",
            DISABLE_TELEMETRY="1",
            DISABLE_ERROR_REPORTING="1",
            # No process of its own that outlives it.
            CLAUDE_CODE_DISABLE_AGENT_VIEW="1",
            **settings,
        )
        self.session = str(uuid.uuid4())

    def ask(self, question: str, *, first: bool = False, fork: bool = False) -> Ended:
        """One turn in print mode."""
        which = ["--session-id", self.session] if first else ["--resume", self.session]
        options = ["--output-format", "stream-json", "--verbose"]
        options += ["--allowedTools", "Bash(echo:*),Agent"]
        options += ["--fork-session"] if fork else []
        command = [str(self.program), "-p", question, *which, *options]
        ended = run(command, self.env, self.project)
        assert ended.code == 0, ended
        return ended

    @contextmanager
    def at_a_prompt(self) -> Iterator["Prompt"]:
        """The program as a person sees it. What it would ask first of all has been answered."""
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.project): trusted},
        }
        (self.home / ".claude.json").write_text(json.dumps(known))
        child = pexpect.spawn(
            str(self.program),
            ["--permission-mode", "acceptEdits", "--allowedTools", "Agent"],
            env=self.env,
            cwd=str(self.project),
            dimensions=(40, 120),
            encoding="utf-8",
            codec_errors="replace",
            timeout=PATIENCE_S,
        )
        try:
            yield Prompt(child)
        finally:
            if child.pid is not None:
                end_group(child.pid)
            child.close(force=True)


class Prompt:
    """Types, and waits for what the server sees."""

    def __init__(self, child: "pexpect.spawn[str]") -> None:
        self._child, self._seen = child, ""
        self._until(lambda: "/effort" in self._seen or "shortcuts" in self._seen)

    def say(self, words: str, stage: Stage, *kinds: tuple[str, int]) -> None:
        """Type a line and wait until so many requests of each kind have been answered."""
        before = stage.outcomes()

        def answered() -> bool:
            now = stage.outcomes() - before
            return all(
                sum(count for (name, _), count in now.items() if name == kind) >= least
                for kind, least in kinds
            )

        self._until_quiet()
        self._child.send(words)
        # It takes a return in one piece with the words for pasted text.
        self._until_quiet()
        self._child.send("\r")
        self._until(answered)

    def _until_quiet(self) -> None:
        """While it works something always moves on its screen."""
        self._until(lambda: not self._read(1.0))

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"it did not happen:\n{self._seen[-3000:]}"
            self._read(0.2)

    def _read(self, wait_s: float) -> str:
        """What it shows within this time."""
        try:
            shown = self._child.read_nonblocking(100_000, timeout=wait_s)
        except pexpect.TIMEOUT:
            return ""
        except pexpect.EOF:
            raise AssertionError(f"it has ended:\n{self._seen[-3000:]}") from None
        self._seen += shown
        return str(shown)


@pytest.mark.parametrize("hints", [False, True])
def test_subagents_and_a_compaction(
    programs: dict[str, Path], tmp_path: Path, home: Path, project: Path, hints: bool
) -> None:
    settings = {"CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"} if hints else {}
    with staged(tmp_path, [TITLE, SUMMARY, SPAWN, LOOK, DONE]) as stage:
        claude = Claude(programs["claude"], stage, home, project, **settings)
        claude.ask("Please call two helpers.", first=True)
        claude.ask("A second question.")
        claude.ask("/compact")
        claude.ask("A third question.")
        claude.ask("A fourth question.")
        names = stage.handles()
        claude.ask("The same, in another session.", fork=True)

        assert not stage.complaints()
        outcomes = stage.outcomes()
        turns = outcomes.pop(("turn", "used"))
        # Its helpers' results may come in one request or in two.
        assert turns in (4, 5)
        assert outcomes == {
            ("first turn", "unknown"): 1,
            ("subagent's first", "unknown"): 2,
            ("subagent's turn", "used"): 2,
            ("compaction", "used"): 1,
            ("rewritten history", "unmatched"): 1,
            ("forked session's first", "used"): 1,
        }
        hinted = [played.placed.record.headers for played in stage.answers()]
        assert any("x-claude-code-request-class" in headers for headers in hinted) == hints
        # A name for the main conversation, and one for each helper; one for the other session.
        assert len(names) == 3 and len(stage.handles()) == 4
        assert {name["source"] for name in names} == {"claude-code"}
        assert stage.counted("messages", "used") == turns + 4
        dear = [cost for cost in stage.costs() if cost[1] > cost[0] / 4]
        assert len(dear) == 4, "the first of each thread, and the one after the compaction"


def test_forks(programs: dict[str, Path], tmp_path: Path, home: Path, project: Path) -> None:
    with staged(tmp_path, [TITLE, FORK, DONE]) as stage:
        claude = Claude(programs["claude"], stage, home, project, CLAUDE_CODE_FORK_SUBAGENT="1")
        claude.ask("A first question.", first=True)
        claude.ask("Please call two forks.")
        claude.ask("A third question.")

        assert not stage.complaints()
        outcomes = stage.outcomes()
        assert outcomes["fork's first", "used"] == 2
        assert outcomes["first turn", "unknown"] == 1
        assert {outcome for kind, outcome in outcomes if kind == "turn"} == {"used"}
        assert len(stage.handles()) == 3
        dear = [cost for cost in stage.costs() if cost[1] > cost[0] / 4]
        assert len(dear) == 1, "what is common to all of them was read once"


def test_at_a_prompt(programs: dict[str, Path], tmp_path: Path, home: Path, project: Path) -> None:
    with staged(tmp_path, [TITLE, SUMMARY, FORK, DONE]) as stage:
        claude = Claude(programs["claude"], stage, home, project, CLAUDE_CODE_FORK_SUBAGENT="1")
        with claude.at_a_prompt() as prompt:
            prompt.say("A first question.", stage, ("title", 1), ("first turn", 1))
            prompt.say("Please call two forks.", stage, ("fork's first", 2), ("turn", 2))
            prompt.say("A third question.", stage, ("turn", 1))
            # What it is shows in what follows: so far it looks like the next turn.
            prompt.say("/compact ", stage, ("turn", 1))
            prompt.say("A fourth question.", stage, ("rewritten history", 1))
            prompt.say("A fifth question.", stage, ("turn", 1))

        assert not stage.complaints()
        outcomes = stage.outcomes()
        assert sum(count for (kind, _), count in outcomes.items() if kind == "title") >= 1
        assert outcomes["fork's first", "used"] == 2
        assert outcomes["compaction", "used"] == outcomes["rewritten history", "unmatched"] == 1
        assert {outcome for kind, outcome in outcomes if kind == "turn"} == {"used"}
        # The title has no name of its own: it is the main conversation's business.
        assert len(stage.handles()) == 3
