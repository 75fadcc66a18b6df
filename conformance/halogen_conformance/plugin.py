"""The pytest plugin under the suite: marks, recording, outcomes turned into verdicts.

`halogen-conformance check` loads it. `options` loads it when pytest is started by hand.
"""

from __future__ import annotations

import random
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance import baseline
from halogen_conformance.controller import EVENTS, Controller
from halogen_conformance.eventlog import EventLog
from halogen_conformance.events import (
    Check,
    Event,
    SuiteError,
    TargetLost,
    TestFinished,
    TestStarted,
)
from halogen_conformance.mask import Mask
from halogen_conformance.options import order_of
from halogen_conformance.order import Order
from halogen_conformance.outcomes import ending_of
from halogen_conformance.recorder import Recorder, Subject, worst
from halogen_conformance.report.write import STREAM, write
from halogen_conformance.rows import chosen, levels, rows
from halogen_conformance.stream import to_line
from halogen_conformance.target import TargetError
from halogen_conformance.verdict import FAILING, Level, Outcome, Verdict

pytest_plugins = ("halogen_conformance.options",)
ORDER = pytest.StashKey[Order]()
RECORDER = pytest.StashKey[Recorder]()
_PENDING = pytest.StashKey[Sequence[Check]]()
_BEGIN = pytest.StashKey[float]()
CONTROLLER = "halogen-conformance-controller"
_LONGEST_TRACEBACK = 20_000


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a worker process of pytest-xdist."""
    return hasattr(config, "workerinput")


def controller_for(order: Order, *listeners: Any) -> Controller:
    """A controller that writes its stream into the report folder, if there is one.

    Raises BaselineError for an unusable baseline, OSError for a folder that cannot be written.
    """
    known = baseline.load(Path(order.baseline), levels()) if order.baseline else ()
    path = Path(order.report) / STREAM if order.report else None
    log = EventLog(path, Mask([order.key]), listeners)
    return Controller(log, order, rows(), known)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and, in the process that judges, the controller and the reports. Raises
    UsageError, BaselineError and OSError before anything is asked of the server."""
    for line in (
        "requirement(*ids): the requirements a test speaks about",
        "needs(group): the settings group its server must run with (default: on)",
    ):
        config.addinivalue_line("markers", line)
    config.stash[ORDER] = order_of(config)
    manager = config.pluginmanager
    if not is_worker(config) and not manager.has_plugin(CONTROLLER):
        controller = controller_for(config.stash[ORDER])
        manager.register(controller, CONTROLLER)
        manager.register(_Writer(controller, config.stash[ORDER]), "halogen-conformance-writer")


class _Writer:
    """Writes the report when pytest was started by hand."""

    def __init__(self, controller: Controller, order: Order) -> None:
        self._controller, self._order = controller, order

    def pytest_unconfigure(self) -> None:
        if self._order.report:
            write(self._controller.run, Path(self._order.report))


def ids_of(item: pytest.Item) -> tuple[str, ...]:
    """The requirement ids of a test, each once, nearest mark first."""
    found = (rid for mark in item.iter_markers("requirement") for rid in mark.args)
    return tuple(dict.fromkeys(found))


def _test_name(item: pytest.Item) -> str:
    path, _, rest = item.nodeid.partition("::")
    return f"{path.rpartition('/')[2]}::{rest}"


def subject_of(item: pytest.Item) -> Subject:
    """What a test is about; route and way of answering come from its parameters."""
    callspec = getattr(item, "callspec", None)
    params: Mapping[str, Any] = callspec.params if callspec is not None else {}
    route = params.get("route", "")
    streaming = params.get("streaming")
    return Subject(
        test=_test_name(item),
        requirements=ids_of(item),
        route=route if isinstance(route, str) else str(getattr(route, "name", "")),
        streaming=streaming if isinstance(streaming, bool) else None,
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the requirements that were chosen, in a seeded order if it is wanted.
    Raises UsageError for a test whose requirement is unknown or not named."""
    known: Mapping[str, Level] = levels()
    for item in items:
        ids = ids_of(item)
        if wrong := [rid for rid in ids if rid not in known]:
            raise pytest.UsageError(f"{_test_name(item)} names unknown requirements: {wrong}")
        if not ids:
            raise pytest.UsageError(f"{_test_name(item)} names no requirement")
    order = config.stash[ORDER]
    if order.only:
        wanted = chosen(order.only)
        left_out = [item for item in items if not wanted & set(ids_of(item))]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted & set(ids_of(item))]
    if order.shuffle:
        random.Random(order.seed).shuffle(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin the record of what this test expects, arranges and asks."""
    item.stash[RECORDER] = Recorder(subject_of(item), levels())
    item.stash[_BEGIN] = time.monotonic()
    item.stash[_PENDING] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put what happened in this phase (set-up, test, tear-down) into pytest's report, as lines."""
    report = yield
    events: list[Event] = []
    recorder = item.stash.get(RECORDER, None)
    if recorder is None:  # another plugin's set-up failed before ours
        events.append(SuiteError(_test_name(item), str(report.longrepr)[-_LONGEST_TRACEBACK:]))
    else:
        events += _phase(item, recorder, report, call.excinfo)
    # An extra attribute of plain strings travels with the report, also out of a worker process.
    vars(report)[EVENTS] = [to_line(event) for event in events]
    return report


def _phase(
    item: pytest.Item,
    recorder: Recorder,
    report: pytest.TestReport,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
) -> list[Event]:
    subject, error = recorder.subject, excinfo.value if excinfo else None
    events: list[Event] = []
    if report.when == "setup":
        events.append(TestStarted(subject.test, time.time(), subject.requirements))
    if report.when == "teardown" and error is not None:
        # Clean-up is never a verdict: the test has already said what it found.
        recorder.note(f"clean-up failed: {type(error).__name__}: {error}")
        report.outcome = "passed"
    if report.when == "call" or (report.when == "setup" and error is not None):
        traceback = str(report.longrepr)[-_LONGEST_TRACEBACK:] if error is not None else ""
        ending = ending_of(error, in_setup=report.when == "setup", traceback=traceback)
        ending = recorder.ending(ending)
        if isinstance(error, TargetError) and error.log:
            recorder.note(f"the end of the server's log:\n{error.log}")
        checks: Sequence[Check] = recorder.conclude(ending)
        item.stash[_PENDING] = checks
        events += [*recorder.drain(), *checks]
        if ending.outcome is Outcome.DIED:
            events.append(TargetLost(ending.reason, subject.test))
        _show(report, checks)
    if report.when == "teardown":
        events += recorder.drain()
        verdict = worst(item.stash[_PENDING])
        seconds = time.monotonic() - item.stash[_BEGIN]
        events.append(TestFinished(subject.test, time.time(), seconds, verdict))
    return events


def _show(report: pytest.TestReport, checks: Sequence[Check]) -> None:
    """Let pytest's own display agree: N/A is a skip, WARN and INFO an expected failure."""
    verdict = worst(checks)
    said = next((check for check in checks if check.verdict is verdict), None)
    why = f"{verdict}: {(said.reason or said.actual) if said else ''}"
    if verdict in FAILING | {Verdict.ERROR}:
        if not report.failed:  # a check of its own, the test went on
            report.outcome, report.longrepr = "failed", why
    elif verdict is Verdict.NA:
        path, line, _ = report.location
        report.outcome, report.longrepr = "skipped", (path, line or 0, why)
    elif not report.passed:
        report.outcome, report.longrepr = "skipped", why
        report.wasxfail = why


@pytest.fixture
def recorder(request: pytest.FixtureRequest) -> Recorder:
    """The record of this test: exchanges, restarts, notes and further checks go there."""
    taken: Recorder = request.node.stash[RECORDER]
    return taken


@pytest.fixture(scope="session")
def order(pytestconfig: pytest.Config) -> Order:
    """What the caller asked for."""
    return pytestconfig.stash[ORDER]
