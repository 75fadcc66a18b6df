"""Ports for servers that the suite starts: free ones, and never one for two suites."""

import socket
import subprocess
import sys
import textwrap

import pytest

from halogen_conformance.target import process as process_module
from halogen_conformance.target.process import free_port


def test_busy_ports_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_PORTS", 1)
    monkeypatch.setattr(process_module, "_TRIES", 1)
    with socket.create_server(("127.0.0.1", 0)) as busy:
        monkeypatch.setattr(process_module, "_FIRST_PORT", busy.getsockname()[1])
        with pytest.raises(RuntimeError, match="no free port"):
            free_port()


def test_a_port_is_given_to_one_suite_only() -> None:
    """Three processes that look at the same moment, in the same few ports: none listens yet."""
    look = """
        import halogen_conformance.target.process as process
        process._PORTS = process._TRIES = 250
        print(*(process.free_port() for _ in range(40)), flush=True)
        input()
    """
    command = [sys.executable, "-c", textwrap.dedent(look)]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(3)]
    found = []
    for process in started:
        assert process.stdout is not None
        found += process.stdout.readline().split()
    for process in started:
        process.communicate("\n", timeout=20)
    assert len(found) == len(set(found)) == 120
