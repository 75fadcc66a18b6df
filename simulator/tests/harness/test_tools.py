"""The harness's tools: what they answer, and what they never do."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.drivers.conversation import Call
from halogen_simulator.harness.tools import (
    MOST_BYTES,
    Output,
    Toolbox,
    ToolsError,
    built_in,
    merged,
    scripted,
)
from tests.harness.made import SOME


def run(box: Toolbox, name: str, **arguments: object) -> Output:
    return box.run(Call("1", name, json.dumps(arguments)))


@pytest.mark.parametrize(
    ("expression", "answer"),
    [("2+3*4", "14"), ("(2 + 3) * -4", "-20"), ("1/4", "0.25"), (" 7 ", "7"), ("1e3", "1000")],
)
def test_calculate(expression: str, answer: str) -> None:
    assert run(built_in(), "calculate", expression=expression) == Output(answer)


@pytest.mark.parametrize(
    "expression",
    [
        "1/0",
        "2**9",
        "x",
        "__import__('os')",
        "1+",
        "",
        "(" * 190,
        "1" * 201,
        "True",
        "1j",
        "'a'",
        "9e999",
    ],
)
def test_what_is_not_calculated(expression: str) -> None:
    assert run(built_in(), "calculate", expression=expression).is_error


@SOME
@given(st.text("0123456789.+-*/() e", max_size=30))
def test_calculate_never_raises(expression: str) -> None:
    run(built_in(), "calculate", expression=expression)


def test_count_words() -> None:
    assert run(built_in(), "count_words", text=" one  two\nthree ") == Output("3")


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("dance", "{}", "there is no tool 'dance'"),
        ("count_words", "{", "the arguments are not JSON"),
        ("count_words", "[]", "the arguments must be a JSON object"),
        ("count_words", '{"text": 1}', "'text' must be a text"),
        ("count_words", "", "'text' must be a text"),
        ("count_words", "[" * 100_000, "the arguments are not JSON"),
    ],
)
def test_wrong_calls_are_told_to_the_model(name: str, arguments: str, complaint: str) -> None:
    assert built_in().run(Call("1", name, arguments)) == Output(complaint, is_error=True)


def test_reading_files(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a.txt").write_text("hello")
    (tmp_path / "in" / "big").write_bytes(b"x" * (MOST_BYTES + 9))
    (tmp_path / "secret").write_text("no")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    box = built_in(tmp_path / "in")
    assert run(box, "read_file", path="deep/a.txt") == Output("hello")
    assert run(box, "read_file", path="deep/../deep/a.txt") == Output("hello")
    assert len(run(box, "read_file", path="big").text) == MOST_BYTES
    outside = ["../secret", "link", str(tmp_path / "secret"), "deep/../../secret"]
    for path in outside:
        assert run(box, "read_file", path=path) == Output(
            f"{path}: outside the folder that may be read", is_error=True
        )
    for path in ("nothing", "deep", "", "a\x00b", "x" * 5000):
        assert run(box, "read_file", path=path).is_error


def test_files_are_offered_only_with_a_folder(tmp_path: Path) -> None:
    assert [tool.name for tool in built_in().offered] == ["calculate", "count_words"]
    assert "read_file" in built_in(tmp_path).tools


SCRIPT = """
- name: weather
  description: What the weather is.
  parameters: {type: object, properties: {town: {type: string}}}
  answers:
    - {when: Quay, say: grey}
    - {when: Hill, say: "no such town", is_error: true}
- name: calculate
  answers: [{say: "42"}]
"""


def test_scripted_tools(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(SCRIPT)
    box = merged([built_in(), scripted(path)])
    assert run(box, "weather", town="New Quay") == Output("grey")
    assert run(box, "weather", town="Hill") == Output("no such town", is_error=True)
    assert run(box, "weather", town="Dale").text == 'weather has no answer to {"town": "Dale"}'
    # The script's own tool stands in for the one of the same name.
    assert run(box, "calculate", expression="1") == Output("42")
    assert [tool.name for tool in box.offered] == ["calculate", "count_words", "weather"]
    assert box.offered[2].parameters["properties"] == {"town": {"type": "string"}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "it is not YAML"),
        ("a: 1", "the file: Input should be a valid list"),
        ("- {name: a}", "0.answers: Field required"),
        ("- {name: a, answers: []}", "0.answers: "),
        ("- {name: a b, answers: [{say: x}]}", "0.name: "),
        ("- {name: a, answers: [{say: x, then: y}]}", "0.answers.0.then: Extra inputs"),
        ("- {name: a, answers: [{when: '(', say: x}]}", "missing ), unterminated"),
    ],
)
def test_scripts_that_are_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(text)
    with pytest.raises(ToolsError) as caught:
        scripted(path)
    said = str(caught.value)
    assert said.startswith(f"the tools of {path} cannot be used: ") and complaint in said
    assert "\n" not in said


def test_no_script() -> None:
    with pytest.raises(ToolsError, match=r"nowhere\.yaml cannot be used: .*No such file"):
        scripted(Path("nowhere.yaml"))
