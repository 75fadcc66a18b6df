"""Scripts: what applies when, and what is said of a wrong one."""

from pathlib import Path

import pytest

from halogen_simulator.script import Scene, ScriptError, load, parse

SCENE = Scene(3, 2, "user", "Tell me of FOG", "Be brief.", {"x-agent": "one"})


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ({}, True),
        ({"request": 3}, True),
        ({"request": 2}, False),
        ({"turn": 2}, True),
        ({"turn": 1}, False),
        ({"role": "user"}, True),
        ({"role": "tool"}, False),
        ({"text": "fog$"}, True),
        ({"text": "^fog"}, False),
        ({"system": "brief"}, True),
        ({"system": "long"}, False),
        ({"headers": {"X-Agent": "^one$"}}, True),
        ({"headers": {"x-agent": "two"}}, False),
        ({"headers": {"x-other": "."}}, False),
        ({"request": 3, "text": "foam"}, False),
    ],
)
def test_when(when: dict[str, object], applies: bool) -> None:
    script = parse([{"when": when, "say": "Yes."}])
    assert (script.next(SCENE) is not None) is applies


def test_the_first_that_matches_is_used_as_often_as_it_may() -> None:
    script = parse({"replies": [{"say": "One.", "times": 1}, {"say": "Two."}]})
    answers = [script.next(SCENE) for _ in range(3)]
    assert [line and line.said for line in answers] == [b"One.", b"Two.", b"Two."]


def test_all_parts_of_an_answer() -> None:
    script = parse(
        [{"reasoning": "Hm.", "say": "Look.", "calls": [{"name": "look", "arguments": {"at": 1}}]}]
    )
    line = script.next(SCENE)
    assert line is not None
    assert line.said == (
        b"<think>Hm.</think>\n\nLook.\n"
        b'<tool_call>\n{"name": "look", "arguments": {"at":1}}\n</tool_call>'
    )


@pytest.mark.parametrize("name", ["script.yaml", "script.json"])
def test_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('[{"say": "Yes.", "when": {"turn": 2}}]')
    line = load(path).next(SCENE)
    assert line is not None and line.said == b"Yes."


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("just a text", "must be a list of replies"),
        ("[3]", "reply 1 must be an object"),
        ("[{say: 3}]", "reply 1: 'say' takes a text"),
        ("[{say: x}, {tell: x}]", "reply 2: there is no 'tell'; there are times"),
        ("[{when: {text: '['}}]", "'text' takes a regular expression"),
        ("[{when: {moon: full}}]", "there is no 'moon'; there are request"),
        ("[{times: -1}]", "'times' takes a whole number from 0"),
        ("[{delay_s: soon}]", "'delay_s' takes a number of seconds"),
        ("[{calls: [{arguments: 3}]}]", "'calls' takes a list of calls"),
        ("[{busy: 1}]", "'busy' takes true or false"),
        ("[", "it is not YAML"),
    ],
)
def test_a_wrong_script_is_told_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text)
    with pytest.raises(ScriptError) as caught:
        load(path)
    message = str(caught.value)
    assert complaint in message and str(path) in message and "\n" not in message


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read"):
        load(tmp_path / "none.yaml")
