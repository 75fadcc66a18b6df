"""What one test does, taken down while it runs, and turned into events when it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.events import Check, Event, ExchangeSeen, Note, TargetChanged
from halogen_conformance.outcomes import Ending
from halogen_conformance.repro import Step, script
from halogen_conformance.seen import seen
from halogen_conformance.target import TargetError
from halogen_conformance.target.target import Running
from halogen_conformance.verdict import Level, Outcome, Verdict, fold, judge

# A body longer than this is cut in the record: the reader needs its beginning, and a server
# that never stops talking must not fill the disk.
BODY_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Subject:
    """What a test is about."""

    test: str
    requirements: tuple[str, ...]
    route: str = ""
    streaming: bool | None = None


def _cut(text: str) -> str:
    over = len(text) - BODY_LIMIT
    return text if over <= 0 else f"{text[:BODY_LIMIT]}… ({over:,} more characters)"


def _cut_frames(frames: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    kept: list[tuple[float, str]] = []
    room = BODY_LIMIT
    for at, text in frames:
        if len(text) > room:
            kept.append((at, f"… ({len(frames) - len(kept)} more pieces)"))
            break
        kept.append((at, text))
        room -= len(text)
    return tuple(kept)


@dataclass(slots=True)
class Recorder:
    """The record of one test. Threads of the test may write to it at the same time."""

    subject: Subject
    levels: Mapping[str, Level]
    steps: list[Step] = field(default_factory=list)
    _watched: list[Running] = field(default_factory=list)
    _pending: list[Event] = field(default_factory=list)
    _extra: list[Check] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def exchange(self, seen: ExchangeSeen) -> None:
        """Add one exchange; its test and number are filled in here, long bodies are cut."""
        with self._lock:
            number = 1 + sum(isinstance(step, ExchangeSeen) for step in self.steps)
            whole = replace(
                seen,
                test=self.subject.test,
                number=number,
                request_body=_cut(seen.request_body),
                response_body=_cut(seen.response_body),
                frames=_cut_frames(seen.frames),
            )
            self.steps.append(whole)
            self._pending.append(whole)

    def __call__(self, exchange: Exchange) -> None:
        """Add one exchange of the drivers' client; give the recorder itself to the client."""
        self.exchange(seen(exchange))

    def target(self, action: str, settings: Mapping[str, str] | None = None) -> None:
        """Note that the target was started, stopped or killed, and with which settings."""
        pairs = tuple(sorted((settings or {}).items()))
        change = TargetChanged(self.subject.test, time.time(), action, pairs)
        with self._lock:
            self.steps.append(change)
            self._pending.append(change)

    def watch(self, server: Running) -> None:
        """Hold the test's failure against its death if this server turns out to be gone."""
        self._watched.append(server)

    def ending(self, ending: Ending) -> Ending:
        """The same ending, unless it went wrong because a watched server is lost."""
        if ending.outcome in {Outcome.HELD, Outcome.NOT_OFFERED, Outcome.DIED}:
            return ending
        for server in self._watched:
            try:
                server.check_alive()
            except TargetError as error:
                if error.log:
                    self.note(f"the end of the server's log:\n{error.log}")
                return replace(ending, outcome=Outcome.DIED, reason=str(error))
        return ending

    def note(self, text: str) -> None:
        """Add a remark for the reader that is no verdict."""
        with self._lock:
            self._pending.append(Note(text, self.subject.test))

    def check(self, requirement: str, holds: bool, *, expected: str, actual: str) -> bool:
        """Say something about a further requirement without ending the test.

        Raises KeyError for an unknown id. Returns `holds`.
        """
        outcome = Outcome.HELD if holds else Outcome.MISSED
        made = self._made(requirement, Ending(outcome, expected=expected, actual=actual))
        with self._lock:
            self._extra.append(made)
        return holds

    def _made(self, requirement: str, ending: Ending) -> Check:
        return Check(
            test=self.subject.test,
            requirement=requirement,
            outcome=ending.outcome,
            verdict=judge(self.levels[requirement], ending.outcome),
            route=self.subject.route,
            streaming=self.subject.streaming,
            expected=ending.expected,
            actual=ending.actual,
            reason=ending.reason,
        )

    def conclude(self, ending: Ending) -> list[Check]:
        """The checks of this test now that it has ended, each with its script if it went wrong."""
        with self._lock:
            said = list(self._extra)
            self._extra.clear()
        for requirement in self.subject.requirements:
            if ending.outcome is Outcome.HELD and any(c.requirement == requirement for c in said):
                continue  # the test has spoken about it itself
            one = ending
            if ending.requirement and ending.requirement != requirement:
                one = Ending(Outcome.BLOCKED, reason=f"{ending.requirement} failed first")
            said.append(self._made(requirement, one))
        missed_elsewhere = ending.requirement not in ("", *self.subject.requirements)
        if missed_elsewhere:
            said.append(self._made(ending.requirement, ending))
        return [self._with_repro(check) for check in said]

    def _with_repro(self, check: Check) -> Check:
        if check.outcome in {Outcome.HELD, Outcome.NOT_OFFERED}:
            return check
        with self._lock:
            steps = list(self.steps)
        where = f" on {check.route}" if check.route else ""
        title = f"{check.requirement}{where}: {check.test}"
        return replace(check, repro=script(title, steps))

    def drain(self) -> list[Event]:
        """The events since the last call."""
        with self._lock:
            out = list(self._pending)
            self._pending.clear()
        return out


def worst(checks: Sequence[Check]) -> Verdict:
    """The verdict to show for a whole test."""
    return fold(check.verdict for check in checks)
