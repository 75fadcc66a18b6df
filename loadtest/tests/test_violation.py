"""A broken rule is told so that somebody else can see it again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options, session_headers
from halogen_loadtest.judge.violation import curls
from tests.launched import simulator

STORY = Conversation().user("What's fog? \u2603 'BODY'\nBODY")


def test_the_script_repeats_what_was_sent(tmp_path: Path) -> None:
    """The calls before run first, those at once together; bodies arrive as they were."""
    options = Options(max_tokens=4)
    kept = CHAT.request(STORY, options).plus(*session_headers("a'b$HOME", None))
    never = CHAT.request(STORY, options).plus(*session_headers(None, "a'b$HOME"))
    script = tmp_path / "repro.sh"
    script.write_text(curls("a rule", [kept], [never, never]), "utf-8")
    with simulator() as server:
        done = subprocess.run(
            ["sh", str(script), server.url], capture_output=True, text=True, timeout=30, check=True
        )
    assert done.stdout.count("200 OK") == 3, done.stdout + done.stderr
    # The name is live, and the second history stops before the reply that was kept.
    assert done.stdout.lower().count("x-halogen-from: unmatched") == 2


def test_a_key_is_never_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOGEN_API_KEY", "secret-key-1")
    text = curls("a rule", [], [CHAT.request(STORY).plus(("x-api-key", "secret-key-1"))])
    assert "secret-key-1" not in text and '"Authorization: Bearer $HALOGEN_API_KEY"' in text
