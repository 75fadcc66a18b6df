"""What a person who starts the server wrongly gets to read: one line, and what to do."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.protocol.server import clean_environment


def start(settings: dict[str, str], *arguments: str) -> str:
    """Start the server, which must not come up; its one line."""
    ended = subprocess.run(
        [sys.executable, "-m", "halogen_reference", *arguments],
        env=clean_environment(settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2, ended
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("halogen-reference: ")
    return lines[0]


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for line in (
            start({}, "--port", str(port)),
            start({"HALOGEN_API_PORT": str(port)}),
        ):
            assert (
                f"127.0.0.1:{port}" in line and "choose another --port or HALOGEN_API_PORT" in line
            )


def test_an_address_that_is_not_here() -> None:
    for host in ("192.0.2.1", "no-such-host.invalid"):
        line = start({"HALOGEN_API_HOST": host}, "--port", "0")
        assert host in line and "choose another HALOGEN_API_HOST" in line


@pytest.mark.parametrize("content", [None, b"", b"GGUF", b"GGUF" + b"\0" * 100, b"text\n" * 99])
def test_a_file_that_is_no_model(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    line = start({"HALOGEN_CHECKPOINT": str(path)})
    assert str(path) in line
    assert ("no model file at" in line) == (content is None)
    assert "HALOGEN_CHECKPOINT" in line


def test_a_folder_for_a_model(tmp_path: Path) -> None:
    assert str(tmp_path) in start({"HALOGEN_CHECKPOINT": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HALOGEN_API_PORT", "eighty"),
        ("HALOGEN_API_PORT", "65536"),
        ("HALOGEN_CTX", "0"),
        ("HALOGEN_CTX", "2k"),
        ("HALOGEN_CTX", "999999"),
        ("HALOGEN_CTX", "9" * 5000),
        ("HALOGEN_KV_SLOTS", "-1"),
        ("HALOGEN_KV_SLOTS", "1.5"),
        ("HALOGEN_KV_POOL_POSITIONS", "64"),
        ("HALOGEN_QUEUE_TIMEOUT", "soon"),
        ("HALOGEN_QUEUE_TIMEOUT", "nan"),
        ("HALOGEN_FORK", "yes"),
        ("HALOGEN_FORK_TTL_S", "0"),
        ("HALOGEN_FORK_TTL_S", "inf"),
        ("HALOGEN_FORK_HANDLES", "none"),
        ("HALOGEN_THREADS", "0"),
    ],
)
def test_a_setting_that_makes_no_sense(name: str, value: str) -> None:
    line = start({name: value})
    assert name in line
    # It says what the setting takes, or what it must fit.
    assert " takes " in line or " than " in line or " does not hold " in line


@pytest.mark.parametrize(
    "arguments", [("--prot", "1"), ("--port", "http"), ("--port", "70000"), ("--port", "-1")]
)
def test_a_wrong_option(arguments: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "halogen_reference", *arguments],
        env=clean_environment({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert "usage: halogen-reference" in ended.stderr and arguments[0] in ended.stderr
    assert "Traceback" not in ended.stderr
