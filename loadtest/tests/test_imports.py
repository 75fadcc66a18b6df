"""Locust replaces much of the standard library when it is loaded: it stays out of our front, out of
what makes reports, and so out of this test process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.launched import ENVIRONMENT

PLAIN = (
    "cli",
    "options",
    "phases",
    "target",
    "summary",
    "verdict",
    "console",
    "judge.judge",
    "judge.violation",
    "report.page",
    "report.written",
)


@pytest.mark.parametrize("names", [PLAIN])
def test_locust_stays_out(names: tuple[str, ...]) -> None:
    modules = ", ".join(f"halogen_loadtest.{name}" for name in names)
    code = f"import sys, {modules}; print([m for m in ('gevent', 'locust') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_it_needs_only_what_its_extra_names() -> None:
    """Users talk through the suite's drivers, without what the drivers' own client needs."""
    foreign = ("h11", "httpx", "jsonschema", "pytest", "halogen_reference", "halogen_simulator")
    code = (
        "import sys, halogen_loadtest.locustfile; "
        f"print([m for m in {foreign!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr
