"""The side of the pytest plugin that listens: reports of tests in, events and exit code out.

It lives in the main process only. Workers of pytest-xdist send their events along with their
reports, so one process or many make the same stream.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

import pytest

from halogen_conformance.eventlog import EventLog
from halogen_conformance.events import (
    Event,
    KnownListed,
    RequirementListed,
    RunFinished,
    RunStarted,
    SuiteError,
    TargetLost,
    TestsCollected,
)
from halogen_conformance.order import Order
from halogen_conformance.run import INTERRUPTED, Run, collect
from halogen_conformance.stream import EventFormatError, from_json

# The attribute of a report that carries the events of its phase as lines.
EVENTS = "halogen_events"
_LONGEST_TRACEBACK = 20_000
# pytest's own exit codes that say nothing beyond what our events say.
_OURS_TO_DECIDE = frozenset(
    {
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.INTERNAL_ERROR,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    }
)


def versions() -> tuple[tuple[str, str], ...]:
    """What ran the tests, for the report."""
    try:
        own = version("halogen-sessions-kit")
    except PackageNotFoundError:
        own = "not installed"
    return (
        ("halogen-conformance", own),
        ("pytest", pytest.__version__),
        ("python", platform.python_version()),
    )


class Controller:
    """Turns one pytest session into one event stream."""

    def __init__(
        self,
        log: EventLog,
        order: Order,
        rows: Sequence[RequirementListed],
        known: Iterable[KnownListed] = (),
    ) -> None:
        self._log = log
        self._order = order
        self._rows = rows
        self._known = tuple(known)
        self._session: pytest.Session | None = None
        self._begin = time.monotonic()
        self._lost = False
        self._counted = False

    @property
    def run(self) -> Run:
        """The run as far as it has come."""
        return collect(self._log.events)

    def open(self) -> None:
        """Write the head of the stream."""
        order = self._order
        self._log.emit(
            RunStarted(
                target=order.target,
                at=time.time(),
                facts=order.facts,
                versions=versions(),
                seed=order.seed,
                only=order.only,
            )
        )
        for row in self._rows:
            self._log.emit(row)
        for entry in self._known:
            self._log.emit(entry)

    def close(self) -> int:
        """Write the end of the stream and return the exit code."""
        seconds = time.monotonic() - self._begin
        # The code is worked out from the events of a complete run, so the end is added first.
        end = RunFinished(0, time.time(), seconds)
        run = collect([*self._log.events, end])
        code = int(run.code)
        self._log.emit(RunFinished(code, end.at, seconds, run.counts))
        self._log.close()
        return code

    def lost(self, text: str) -> None:
        """Say that the target is gone."""
        self._take(TargetLost(text))

    def failed(self, where: str, text: str) -> None:
        """Say that the suite itself went wrong."""
        self._take(SuiteError(where, text[-_LONGEST_TRACEBACK:]))

    def _take(self, event: Event) -> None:
        self._log.emit(event)
        if isinstance(event, TargetLost) and not self._lost:
            self._lost = True
            if self._session is not None:
                # Without a target every further test would only tell the same again.
                self._session.shouldstop = "the target was lost"

    # ---- hooks of pytest ----

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session
        self.open()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._counted = True
        self._log.emit(TestsCollected(len(session.items)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        # Every worker collects the same tests; the main process collects none.
        if not self._counted:
            self._counted = True
            self._log.emit(TestsCollected(len(ids)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed(report.nodeid or "collection", str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        lines: list[str] | None = getattr(report, EVENTS, None)
        if lines is None:
            # Not one of our tests' phases: a worker that crashed reports like this.
            if report.failed:
                self.failed(report.nodeid, str(report.longrepr))
            return
        for line in lines:
            try:
                event = from_json(json.loads(line))
            except EventFormatError as error:
                self.failed(report.nodeid, f"bad event: {error}")
                continue
            if event is not None:
                self._take(event)

    def pytest_internalerror(self, excrepr: object) -> None:
        self.failed("pytest", str(excrepr))

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # pytest reports its own early stops the same way; those have been told already.
        if not isinstance(excinfo.value, pytest.Session.Interrupted):
            self.failed(INTERRUPTED, "somebody ended the run before it was complete")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.USAGE_ERROR:
            # A test of ours without a requirement, say; pytest prints the reason at its end.
            self.failed("pytest", "the tests could not be collected: see pytest's own message")
        code = self.close()
        if exitstatus in _OURS_TO_DECIDE:
            session.exitstatus = code
