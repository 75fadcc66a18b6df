"""The command as a person and a program use it: a real process and a real socket."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from halogen_simulator.cli import main
from halogen_simulator.faults.table import FAULTS

COMMAND = [sys.executable, "-m", "halogen_simulator"]
HOME = Path(__file__).parents[3]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("HALOGEN_")},
    "PYTHONPATH": os.pathsep.join(str(HOME / part) for part in ("reference", "simulator")),
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["faults", "--json"],
        ["traffic"],
        ["fleet", "run", "--programs", "2", "--turns", "2"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_reader_that_leaves_is_no_mistake(arguments: list[str]) -> None:
    """``halogen-simulator faults | head``: no traceback, no complaint."""
    ends = os.pipe()
    os.close(ends[0])
    with os.fdopen(ends[1], "wb") as nobody:
        ended = subprocess.run(
            [*COMMAND, *arguments],
            env=ENVIRONMENT,
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.stderr == ""
    assert ended.returncode == 128 + signal.SIGPIPE


@contextmanager
def serving(*options: str, **settings: str) -> Iterator[httpx.Client]:
    """A server on a free port for as long as the block runs; its first line gives the address."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *options],
        env={**ENVIRONMENT, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.fullmatch(r"halogen-simulator: on (http://127\.0\.0\.1:\d+)\n", line)
        assert found, line
        with httpx.Client(base_url=found[1], timeout=30, trust_env=False) as http:
            yield http
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait(20) is not None


def test_serve(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("[{when: {text: fog}, say: Fog is a cloud.}]")
    options = ["--test-controls", "--script", str(script), "--reply-words", "3"]
    with serving(*options, HALOGEN_FORK="1") as http:
        body = {"model": "m", "messages": [{"role": "user", "content": "What is fog?"}]}
        kept = http.post("/v1/chat/completions", json=body, headers={"x-halogen-keep": "a"})
        assert kept.json()["choices"][0]["message"]["content"] == "Fog is a cloud."
        assert [row["name"] for row in http.get("/halogen/handles").json()["data"]] == ["a"]
        assert http.post("/simulator/clock", json={"advance_s": 601}).status_code == 200
        assert http.get("/halogen/handles").json()["data"] == []


def test_serve_with_a_fault_and_a_pace() -> None:
    with serving("--fault", "always-404", "--token-s", "0.001") as http:
        assert http.get("/v1/models").status_code == 404


def test_serve_with_a_profile_by_its_name() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "What is fog?"}]}
    with serving("--profile", "example-accelerator", HALOGEN_FORK="1") as http:
        kept = {"x-halogen-keep": "a"}
        assert http.post("/v1/chat/completions", json=body, headers=kept).status_code == 200
        (row,) = http.get("/halogen/handles").json()["data"]
        assert row["bytes"] % 131_072 == 0, "memory is the profile's"


def test_an_interrupt_ends_it_without_a_word() -> None:
    process = subprocess.Popen(
        # What is started in the background ignores Ctrl-C, and so does all that it starts in turn.
        ["env", "--default-signal=INT", *COMMAND, "serve", "--port", "0"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    assert httpx.get(f"{url}/health", trust_env=False).status_code == 200  # it runs by now
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=30)
    assert (process.returncode, said, complaints) == (0, "", "")


def test_more_slots_than_the_setting_says() -> None:
    """A second reply finds a place while a long one runs, or it would be turned away."""
    body = {"model": "m", "messages": [{"role": "user", "content": "1, 2, 3,"}]}
    settings = {"HALOGEN_KV_SLOTS": "1", "HALOGEN_QUEUE_TIMEOUT": "0.3"}
    route = "/v1/chat/completions"
    with (
        serving("--slots", "2", "--token-s", "0.1", **settings) as http,
        http.stream("POST", route, json={**body, "stream": True}) as long,
    ):
        lines = long.iter_lines()  # held, or the stream would be closed with it
        assert next(lines)
        assert http.post(route, json={**body, "max_tokens": 1}).status_code == 200


def test_it_runs_without_a_model_and_without_what_models_need() -> None:
    """Nothing heavy is loaded to serve: no llama.cpp, no NumPy, no plotting."""
    code = (
        "import sys, halogen_simulator.assembly, halogen_reference.serving, "
        "halogen_simulator.faults.table, halogen_simulator.cli; "
        "print([name for name in ('llama_cpp', 'numpy', 'matplotlib', 'simpy', 'yaml', 'rich') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_faults_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(FAULTS)
    assert "RESTART-3" in next(line for line in lines if line.startswith("trusts-damaged-files"))


def test_faults_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {row["id"]: tuple(row["breaks"]) for row in listed} == {
        fault.id: fault.breaks for fault in FAULTS.values()
    }


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--fault", "none"], "there is no fault 'none'; 'halogen-simulator faults' lists them"),
        (["--script", "nowhere.yaml"], "the script nowhere.yaml cannot be read"),
        (["--profile", "nowhere.json"], "no cost profile 'nowhere.json'"),
    ],
)
def test_wrong_options(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) == 2
    said = capsys.readouterr()
    assert complaint in said.err and said.err.count("\n") == 1 and not said.out


@pytest.mark.parametrize(
    "options",
    [
        ["--slots", "0"],
        ["--reply-words", "0"],
        ["--token-s", "-1"],
        ["--port", "x"],
        ["--port", "70000"],
    ],
)
def test_odd_values(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["serve", *options])
    said = capsys.readouterr().err
    assert caught.value.code == 2 and f"{options[0]}: {options[1]!r} is not a " in said


def test_a_wrong_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HALOGEN_FORK", "maybe")
    assert main(["serve"]) == 2
    assert "HALOGEN_FORK='maybe' cannot be used" in capsys.readouterr().err


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as http:
        port = http.base_url.port
        assert main(["serve", "--port", str(port)]) == 2
    assert "choose another --port" in capsys.readouterr().err
