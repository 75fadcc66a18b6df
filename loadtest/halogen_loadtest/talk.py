"""One user's talk with the server: asks, times, judges and records every exchange."""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from gevent.pool import Group
from locust.contrib.fasthttp import FastHttpSession
from locust.env import Environment

from halogen_conformance.drivers import DRIVERS, Driver
from halogen_conformance.drivers.answer import Answer, read
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Header, Options, Request, session_headers
from halogen_conformance.drivers.handles import LIST_REQUEST, Handles
from halogen_loadtest.judge.expected import PLAIN, Claim, Expectation, Kept, expect
from halogen_loadtest.judge.judge import Finding, checks, is_busy, judge, judge_list, judge_twin
from halogen_loadtest.judge.violation import violation
from halogen_loadtest.ledger import Ledger
from halogen_loadtest.options import Settings
from halogen_loadtest.record import record, result_of
from halogen_loadtest.rows import Rows
from halogen_loadtest.target import Facts
from halogen_loadtest.wire import Sent

T = TypeVar("T")

_BLAME = {"outcome-right": "twin"}
"""What a reply other than its twin's breaks, where it is not what the outcome is about."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Where an exchange belongs: asked at once with the others of its group, in its own lane.

    ``foreign`` are words that only its siblings were told.
    """

    group: str
    lane: str
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, and what its name holds now if it kept one."""

    answer: Answer
    request: Request
    kept: Kept | None = None

    @property
    def ok(self) -> bool:
        return self.answer.ok


@dataclass(slots=True)
class Talk:
    """Names begin with ``prefix``, which no other user has. Not for use by two at once, but for
    what :meth:`together` begins."""

    session: FastHttpSession
    environment: Environment
    settings: Settings
    facts: Facts
    ledger: Ledger
    prefix: str
    driver: Driver
    sessions: bool
    rng: random.Random
    leaving: Callable[[], bool]
    """The end of the test is near: a long iteration ends after the request under way."""
    ever: set[str] = field(default_factory=set)
    """All names this user has ever asked to keep."""
    _twins: list[Callable[[], None]] = field(default_factory=list)

    def name(self, word: str) -> str:
        """A name of this user's own."""
        return f"{self.prefix}{word}"

    def ask(
        self,
        step: str,
        history: Conversation,
        *,
        claim: Claim | None = None,
        start: Kept | None = None,
        unknown: str | None = None,
        keep: str | None = None,
        fork: Fork | None = None,
        about: str = "outcome-right",
        options: Options | None = None,
        leave_after: int | None = None,
        extra: Sequence[Header] = (),
        expected: Expectation | None = None,
    ) -> Said:
        """Ask for a reply to a history and judge the answer.

        ``claim`` says how the history relates to what ``start`` holds; ``unknown`` is a name to
        start from that was never kept. ``extra`` headers are left out of the twin. ``expected``
        replaces what follows from the claim.
        """
        chosen = options or Options(max_tokens=self.settings.reply_tokens)
        chosen = replace(chosen, stream=True, model=self.settings.model)
        plain = self.driver.request(history, chosen)
        request = plain.plus(*extra)
        if expected is None:
            expected = PLAIN
        if self.sessions:
            origin = start.name if start is not None else unknown
            request = request.plus(*session_headers(keep, origin))
            if claim is not None:
                expected = expect(claim, self.facts, start, about=about)
            if keep is not None:
                self.ever.add(keep)
        answer, findings = self._exchange(step, request, expected, fork, leave_after)
        before = [start.request] if start is not None and start.request is not None else []
        self._report(findings, step, answer, request, before)
        said = Said(answer, request, self._kept(keep, history, request, answer, start))
        if said.ok and self._wants_twin(leave_after):
            blame = _BLAME.get(about, about) if fork is None else "isolation"
            twin = partial(self._twin, step, plain, said, before, blame)
            if fork is None:
                twin()
            else:
                self._twins.append(twin)  # not among those whose speed is being measured
        return said

    def _exchange(
        self,
        step: str,
        request: Request,
        expected: Expectation,
        fork: Fork | None,
        leave_after: int | None,
        *,
        twin: bool = False,
    ) -> tuple[Answer, list[Finding]]:
        rows = Rows(self.environment, step, self.sessions and not twin, twin)
        sent = Sent(request)
        self.ledger.begin()
        row = None
        try:
            limit = self.settings.reply_limit
            with sent.perform(self.session, rows.request, limit, leave_after) as response:
                answer = read(self.driver, sent.exchange(), streamed=True)
                findings = judge(answer, expected, fork.foreign if fork else ())
                self._count(checks(answer, expected, forked=fork is not None))
                busy = is_busy(answer)
                if findings:
                    response.failure(f"{findings[0].invariant}: {findings[0].actual[:120]}")
                elif busy:
                    response.failure(f"busy: status {answer.status}")
                else:
                    response.success()
            row = record(
                sent.timing,
                answer,
                step,
                result_of(answer, wrong=bool(findings), busy=busy),
                sessions=self.sessions and not twin,
                asked=expected.outcomes is not None,
                meant=expected.kept is not None,
                group=fork.group if fork else "",
                lane=fork.lane if fork else "",
                twin=twin,
            )
        finally:
            self.ledger.end(row)
        rows.measure(sent, answer)
        return answer, findings

    def _kept(
        self,
        keep: str | None,
        history: Conversation,
        request: Request,
        answer: Answer,
        start: Kept | None,
    ) -> Kept | None:
        if start is not None and answer.outcome == "used":
            start.touch()
        if keep is None or not answer.ok:
            # Turned away or refused, a name is as it was (KEEP-4); else who knows.
            refused = answer.status is not None and answer.status >= 400
            if start is not None and start.name == keep and not refused:
                start.sure = False
            return None
        if history.partial:
            done = history.cut(len(history.turns) - 1)
            begun = history.turns[-1]
            text = getattr(begun, "text", "") + answer.reply.text
            whole = done.plus(replace(answer.reply, text=text).turn())
        else:
            whole = history.plus(answer.reply.turn())
        return Kept(keep, whole, request, answer.reply.usage)

    def _wants_twin(self, leave_after: int | None) -> bool:
        asked = self.sessions and leave_after is None
        return asked and self.rng.random() < self.settings.twins

    def _twin(
        self, step: str, plain: Request, said: Said, before: list[Request], about: str
    ) -> None:
        answer, findings = self._exchange(step, plain, PLAIN, None, None, twin=True)
        self._report(findings, f"{step} (twin)", answer, plain)
        self._count([about])
        differences = judge_twin(
            said.answer, answer, deterministic=self.settings.deterministic, about=about
        )
        self._report(differences, step, said.answer, said.request, [*before, plain])

    def _count(self, checked: Iterable[str]) -> None:
        self.ledger.counts.update(f"checked {one}" for one in checked)

    def report(self, finding: Finding, step: str, said: Said) -> None:
        """A rule that a scenario saw broken over more than one exchange."""
        self._report([finding], step, said.answer, said.request)

    def _report(
        self,
        findings: Iterable[Finding],
        step: str,
        answer: Answer,
        request: Request,
        before: Iterable[Request] = (),
    ) -> None:
        for one in findings:
            self.ledger.broken(violation(one, step, answer.exchange, request, before))

    def check_list(self, live: Iterable[Kept] = ()) -> Handles | None:
        """Look at the list while no request of this user is under way."""
        if not self.sessions or self.settings.replicas:
            return None
        sent = Sent(LIST_REQUEST)
        with sent.perform(self.session, "list of names", self.settings.reply_limit, None) as got:
            exchange = sent.exchange()
            try:
                listed = Handles(exchange.json()) if exchange.status == 200 else None
            except ValueError:
                listed = None
            self._count(["cap", "list"])
            wanted = [] if self.facts.crowded else [one.name for one in live if one.sure]
            findings = (
                [Finding("list", "status 200 with JSON", f"status {exchange.status}")]
                if listed is None
                else judge_list(
                    listed,
                    cap=self.facts.cap,
                    prefix=self.prefix,
                    live=wanted,
                    kept=self.ever,
                )
            )
            if findings:
                got.failure(f"{findings[0].invariant}: {findings[0].actual[:120]}")
            else:
                got.success()
        for one in findings:
            self.ledger.broken(violation(one, "list of names", exchange, LIST_REQUEST))
        return listed

    def together(self, tasks: Sequence[Callable[[], T]], wall: str = "") -> list[T]:
        """Run tasks at once; results in their order. Ends them with this user.

        ``wall`` names the row for the time from the first begun to the last ended.
        """
        group = Group()
        began = time.monotonic()
        begun = [group.spawn(task) for task in tasks]
        try:
            group.join(raise_error=True)
        finally:
            group.kill()
        if wall:
            rows = Rows(self.environment, wall, self.sessions, False)
            rows.wall(time.monotonic() - began)
        twins, self._twins = self._twins, []
        for twin in twins:
            twin()
        return [one.get() for one in begun]


def driver_for(route: str, number: int) -> Driver:
    """The route that user ``number`` speaks; ``all`` goes round."""
    names: list[Any] = list(DRIVERS) if route == "all" else [route]
    return DRIVERS[names[number % len(names)]]
