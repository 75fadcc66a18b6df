"""What a line of a script or of the prompt asks for."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_simulator.harness.command import ACTIONS, CommandError, Do, Say, listed, parse
from halogen_simulator.harness.shell import _ACTIONS
from tests.harness.made import SOME


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("", None),
        ("   \n", None),
        ("# a comment", None),
        ("  Hello, you. \n", Say("Hello, you.")),
        ("//etc is a folder", Say("/etc is a folder")),
        ("/session list", Do("session list")),
        ("  /session   switch  a b ", Do("session switch", "a b")),
        ("/session fork", Do("session fork")),
        ("/session fork  two words ", Do("session fork", "two words")),
        ("/compact", Do("compact")),
        ("/export a file.md", Do("export", "a file.md")),
        ("/quit", Do("quit")),
    ],
)
def test_lines(line: str, meaning: Say | Do | None) -> None:
    assert parse(line) == meaning


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("/dance now", "there is no command /dance; /help lists them"),
        ("/", "there is no command /; /help lists them"),
        ("/session", "/session takes list, switch ID or fork [NAME]"),
        ("/session move", "/session takes list, switch ID or fork [NAME]"),
        ("/session switch", "/session switch needs ID"),
        ("/export", "/export needs FILE"),
        ("/compact all", "/compact takes nothing after it"),
    ],
)
def test_lines_that_are_wrong(line: str, complaint: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse(line)
    assert str(caught.value) == complaint


@SOME
@given(st.text(max_size=20).map(lambda text: f"/{text}"))
def test_any_line_is_a_command_or_a_complaint(line: str) -> None:
    with contextlib.suppress(CommandError):
        assert isinstance(parse(line), Say | Do)


def test_every_command_is_listed_and_carried_out() -> None:
    assert all(f"/{name}" in listed() for name in ACTIONS)
    assert _ACTIONS.keys() == ACTIONS.keys()
