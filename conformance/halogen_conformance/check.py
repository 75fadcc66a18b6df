"""`check`: the suite run against one target, from the order to the exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.resources import as_file, files
from io import StringIO
from pathlib import Path

import pytest

from halogen_conformance.baseline import BaselineError
from halogen_conformance.console import Live, show, terminal
from halogen_conformance.controller import Controller
from halogen_conformance.door import lets_in
from halogen_conformance.interrupt import ended_politely
from halogen_conformance.order import Order
from halogen_conformance.plugin import CONTROLLER, controller_for
from halogen_conformance.report import junit as junit_form
from halogen_conformance.report.write import save, write
from halogen_conformance.rows import UnknownRequirement, chosen
from halogen_conformance.target import TargetError, UrlTarget
from halogen_conformance.verdict import Exit

_TEST_LIMIT_S = 300


def _usage(text: str) -> int:
    print(f"halogen-conformance check: {text}", file=sys.stderr)
    return int(Exit.USAGE)


@contextmanager
def _own_environment() -> Iterator[None]:
    """Keep the caller's pytest settings and plugins out: verdicts must not depend on them."""
    kept = {name: os.environ.get(name) for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    for name in kept:
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _pytest_arguments(order: Order, ini: Path, workers: int) -> list[str]:
    # The folder, not `--pyargs`: for a package name pytest also loads the caller's conftest.py.
    folder = str(ini.parent)
    arguments = [folder, "--rootdir", folder, "-c", str(ini)]
    arguments += ["-q", "--continue-on-collection-errors"]
    # All waiting for the target has deadlines of its own; this limit only catches a bug of ours.
    arguments += [f"--timeout={_TEST_LIMIT_S + 100 * order.slow:g}"]
    arguments += ["-p", "halogen_conformance.plugin", "-p", "pytest_timeout"]
    arguments += ["-p", "no:cacheprovider", f"--halogen-order={order.to_option()}"]
    if workers > 1:
        arguments += ["-p", "xdist.plugin", "-n", str(workers)]
    return arguments


def _reachable(order: Order, controller: Controller) -> bool:
    """For a URL: whether somebody answers there and lets us in. Says so in the stream if not."""
    if not order.url:
        return True
    target, trouble = UrlTarget(order.url, order.declared), ""
    try:
        target.check_alive()
        if not lets_in(target.base_url, target.key):
            wants = "does not take the key that was given" if target.key else "wants a key"
            trouble = f"{target.base_url} {wants} (401): give it in HALOGEN_API_KEY, or with --key"
    except TargetError as error:
        trouble = str(error)
    if trouble:
        controller.open()
        controller.lost(trouble)
        controller.close()
    return not trouble


def _run_pytest(order: Order, controller: Controller, workers: int) -> int:
    talk = StringIO()
    with (
        _own_environment(),
        ended_politely(),
        as_file(files("halogen_conformance.suite") / "suite.ini") as ini,
    ):
        arguments = _pytest_arguments(order, ini, workers)
        # pytest's own report would only repeat ours; it is shown if there is none of ours.
        with redirect_stdout(talk):
            code = pytest.main(arguments, plugins=[_Registrar(controller)])
    if not controller.run.complete:
        controller.failed("pytest", f"it ended early ({code!r})\n{talk.getvalue()}")
        controller.close()
    return int(controller.run.code)


class _Registrar:
    """Puts the controller in place before the plugin would make its own."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self._controller, CONTROLLER)


def run_check(order: Order, *, junit: str = "", workers: int = 1) -> int:
    """Check the target, show and write the results; returns the exit code."""
    console = terminal()
    live = Live(console)
    try:
        if order.url:
            UrlTarget(order.url, order.declared)
        elif shutil.which(order.command[0]) is None:
            return _usage(f"there is no command {order.command[0]!r}; check the words after --")
        if order.only:
            chosen(order.only)
        controller = controller_for(order, live)
    except (UnknownRequirement, BaselineError, TargetError) as error:
        return _usage(str(error))
    except OSError as error:
        return _usage(f"the report cannot be written: {error}")
    if _reachable(order, controller):
        _run_pytest(order, controller, workers)
    live.close()
    run = controller.run
    show(console, run, Path(order.report) if order.report else None)
    try:
        if order.report:
            write(run, Path(order.report))
            console.print(f"Report: {Path(order.report) / 'report.html'}", soft_wrap=True)
        if junit:
            save(Path(junit), junit_form.render(run))
    except OSError as error:
        print(f"halogen-conformance: the report cannot be written: {error}", file=sys.stderr)
        return int(Exit.OUR_ERROR)
    return int(run.code)
