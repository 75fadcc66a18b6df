"""What a person who starts the server wrongly gets to read: one line, and what to do."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from halogen_reference.settings import packaged_model
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


_TEMPLATE = b"tokenizer.chat_template"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        # Another key of the same length: the file has a text there, and no template.
        (lambda at: (at, b"tokenizer.chat_templatX"), "model.gguf has no chat template: choose a"),
        # The value stands behind the key, its type (4 bytes) and its length (8 bytes).
        (
            lambda at: (at + len(_TEMPLATE) + 12, b"{% for %}"),
            "model.gguf: the chat template cannot be read: ",
        ),
    ],
)
def test_a_model_without_a_template_of_use(
    tmp_path: Path, change: Callable[[int], tuple[int, bytes]], complaint: str
) -> None:
    path = tmp_path / "model.gguf"
    shutil.copyfile(packaged_model(), path)
    try:
        with path.open("r+b") as file:
            at, data = change(file.read(2**24).index(_TEMPLATE))
            file.seek(at)
            file.write(data)
        line = start({"HALOGEN_CHECKPOINT": str(path), "HALOGEN_CTX": "64"})
    finally:
        path.unlink()  # a hundred megabytes
    assert complaint in line and "HALOGEN_CHECKPOINT" in line


def test_a_cache_folder_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a file"
    path.touch()
    line = start({"HALOGEN_FORK": "1", "HALOGEN_CACHE_DIR": str(path), "HALOGEN_CTX": "64"})
    assert f"HALOGEN_CACHE_DIR={path} cannot be used" in line and "give it a folder" in line


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
        ("HALOGEN_KV_POOL_POSITIONS", "999999999"),
        ("HALOGEN_QUEUE_TIMEOUT", "soon"),
        ("HALOGEN_QUEUE_TIMEOUT", "nan"),
        ("HALOGEN_FORK", "yes"),
        ("HALOGEN_FORK_TTL_S", "0"),
        ("HALOGEN_FORK_TTL_S", "inf"),
        ("HALOGEN_FORK_HANDLES", "none"),
        ("HALOGEN_FORK_MAP", "foo"),
        ("HALOGEN_API_KEY", ","),
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
