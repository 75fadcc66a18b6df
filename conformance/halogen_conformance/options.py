"""The options of the suite for people who start pytest themselves.

    pytest --pyargs halogen_conformance.suite --base-url http://127.0.0.1:8731

pytest reads its options before it looks for tests, so this module is an entry point that is
loaded into every pytest run of the environment. It does nothing until a server is named.
"""

from __future__ import annotations

import contextlib

import pytest

from halogen_conformance.order import Order

SUITE = "halogen_conformance.suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the suite's options to those of every pytest run of the environment."""
    group = parser.getgroup("halogen-conformance", "sessions protocol conformance")
    with contextlib.suppress(ValueError):  # pytest-base-url has the same option for the same use
        group.addoption("--base-url", default="", metavar="URL", help="the server to check")
    group.addoption("--halogen-ttl", type=float, metavar="S", help="its HALOGEN_FORK_TTL_S")
    group.addoption("--halogen-handles", type=int, metavar="N", help="its HALOGEN_FORK_HANDLES")
    group.addoption("--halogen-key", default="", metavar="KEY", help="a key it accepts")
    group.addoption("--halogen-report", default="", metavar="DIR", help="write all reports there")
    for flag, text in (
        ("claude-code", "it maps Claude Code's threads"),
        ("deterministic", "the same request gets the same text"),
    ):
        group.addoption(f"--halogen-{flag}", action="store_true", help=text)
    # From `halogen-conformance check`, which has all of the above under shorter names.
    group.addoption("--halogen-order", default="", help="(internal)")


def _meant(config: pytest.Config) -> bool:
    """Whether this run is about the suite: its option is given, or the suite is named."""
    named = config.getoption("pyargs") and any(word.startswith(SUITE) for word in config.args)
    return bool(named or config.getoption("--halogen-order"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Load the suite's plugin, only into a run that is about the suite."""
    if _meant(config):
        config.pluginmanager.import_plugin("halogen_conformance.plugin")


def order_of(config: pytest.Config) -> Order:
    """What these options ask for; raises UsageError if they name no server."""
    if text := config.getoption("--halogen-order"):
        return Order.from_option(text)
    if not (url := config.getoption("--base-url", default="")):
        raise pytest.UsageError("say which server to check: --base-url http://HOST:PORT")
    return Order(
        url=url.rstrip("/"),
        ttl=config.getoption("--halogen-ttl"),
        handles=config.getoption("--halogen-handles"),
        key=config.getoption("--halogen-key"),
        claude_code=config.getoption("--halogen-claude-code"),
        deterministic=config.getoption("--halogen-deterministic"),
        report=config.getoption("--halogen-report"),
    )
