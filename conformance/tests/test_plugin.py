"""The pytest plugin: endings of real tests become verdicts, and pytest's own display agrees."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance.order import Order

FAKE = str(Path(__file__).with_name("fake_server.py"))
HEAD = """
import pytest
from halogen_conformance.outcomes import Blocked, expect
from halogen_conformance.suite.conftest import *
from halogen_conformance.suite.marks import needs, requirement, x3
"""


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a fake server that runs."""
    with subprocess.Popen([sys.executable, FAKE, "0"], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()


def play(cli: Any, url: str, text: str) -> tuple[int, str]:
    """Run these tests as a suite; the exit code and what pytest said."""
    (cli.cwd / "test_odd.py").write_text(HEAD + text, "utf-8")
    order = Order(url=url, report=str(cli.cwd / "out"))
    plugin = ["-p", "halogen_conformance.options", "-p", "no:randomly", "-rA"]
    done = cli(*plugin, f"--halogen-order={order.to_option()}", "test_odd.py", module="pytest")
    return done.returncode, done.stdout + done.stderr


def test_each_ending_has_its_verdict_and_pytest_shows_the_same(cli: Any, url: str) -> None:
    code, said = play(
        cli,
        url,
        """
@pytest.fixture
def arrangement():
    assert 1 == 2, "not arranged"

@pytest.fixture
def untidy():
    yield
    raise RuntimeError("clean-up went wrong")

@requirement("KEEP-1")
def test_held(client, untidy): assert client.names() is not None

@requirement("KEEP-2")
def test_missed(): expect(False, expected="a", actual="b")

@requirement("KEEP-3")
def test_in_setup(arrangement): pass

@requirement("KEEP-4")
@needs("restart")
def test_not_offered(client): pass

@requirement("KEEP-5")
def test_should(): assert False

@requirement("KEEP-6")
def test_broken(): {}["x"]

@requirement("LIST-2")
def test_ours(): assert False

@requirement("FROM-1")
def test_further(recorder): recorder.check("FROM-2", False, expected="x", actual="y")
""",
    )
    assert code == 4, said  # KEEP-6: our own error
    verdicts = {
        "KEEP-1": "PASS",
        "KEEP-2": "FAIL",
        "KEEP-3": "BLOCKED",
        "KEEP-4": "N/A",
        "KEEP-5": "WARN",
        "KEEP-6": "ERROR",
        "LIST-2": "INFO",
        "FROM-1": "PASS",
        "FROM-2": "FAIL",
    }
    assert dict(zip(verdicts, cli.verdicts(*verdicts), strict=True)) == verdicts
    display = {
        "test_held": "PASSED",
        "test_missed": "FAILED",
        "test_in_setup": "ERROR",
        "test_should": "XFAIL",
        "test_broken": "FAILED",
        "test_ours": "XFAIL",
        "test_further": "FAILED",
    }
    for name, word in display.items():
        assert re.search(rf"^{word} .*{name}\b", said, re.M), (name, said)
    assert re.search(r"^SKIPPED .*needs a server the suite starts itself", said, re.M), said
    stream = (cli.cwd / "out/events.ndjson").read_text("ascii")
    assert "clean-up failed: RuntimeError: clean-up went wrong" in stream


def test_route_and_way_of_answering_come_from_the_parameters(cli: Any, url: str) -> None:
    code, said = play(
        cli,
        url,
        """
@requirement("KEEP-1")
@x3
def test_x3(driver, options, route, streaming):
    assert (driver.route, options.stream) == (route, streaming)
""",
    )
    assert code == 0, said
    row = next(row for row in cli.results()["requirements"] if row["id"] == "KEEP-1")
    assert {(check["route"], check["streaming"]) for check in row["checks"]} == {
        (route, way) for route in ("chat", "messages", "responses") for way in (False, True)
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def test_unmarked(): pass", "test_unmarked names no requirement"),
        ("@requirement('NOPE-1')\ndef test_typo(): pass", "names unknown requirements"),
    ],
)
def test_a_test_must_say_which_requirement_it_is_about(
    cli: Any, url: str, text: str, message: str
) -> None:
    code, said = play(cli, url, text)
    assert code == 4, said
    assert message in said
    assert cli.results()["exit_code"] == 4


def test_a_module_that_does_not_import_is_our_error_not_the_targets(cli: Any, url: str) -> None:
    code, said = play(cli, url, "import no_such_module_at_all")
    assert code == 4, said
    assert "no_such_module_at_all" in cli.results()["suite_errors"][0]["text"]
