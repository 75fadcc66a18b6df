"""The state of a run in one process: on a worker its ledger, on the master all of theirs."""

import itertools
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import gevent
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from halogen_conformance.drivers.handles import LIST_REQUEST
from halogen_loadtest.judge.judge import judge_list
from halogen_loadtest.judge.violation import Violation, curls
from halogen_loadtest.ledger import Gauge, Ledger
from halogen_loadtest.options import Settings, settings_of
from halogen_loadtest.scenarios import SCENARIOS
from halogen_loadtest.target import Facts, NoSessions, Target, TargetLost, facts

MESSAGE = "halogen-ledger"
FLUSH_S = 0.5
WATCH_S = 1.0
_REST_S = 15.0


@dataclass(slots=True)
class Run:
    """One per process, made when Locust has read its options."""

    environment: Environment
    ledger: Ledger = field(default_factory=Ledger)
    gauges: list[Gauge] = field(default_factory=list)
    failure: Exception | None = None
    """Why there is nothing to run against: TargetLost or NoSessions."""
    stopping: bool = False
    """Somebody wants it to end now, in good order."""
    concluded: bool = False
    """Its verdict has been told."""
    began: float = 0.0
    phase_starts: list[float] = field(default_factory=list)
    """Unix times."""
    numbers: Iterator[int] = field(default_factory=itertools.count)
    _reports: dict[str, tuple[float, bool]] = field(default_factory=dict)
    """Worker to when it reported last, and whether it was at rest then."""

    @property
    def options(self) -> Any:
        return self.environment.parsed_options

    @property
    def settings(self) -> Settings:
        return settings_of(self.options)

    @property
    def users(self) -> int:
        """The most users there will be."""
        return self.options.num_users or 1

    @property
    def is_worker(self) -> bool:
        return isinstance(self.environment.runner, WorkerRunner)

    @property
    def target(self) -> Target:
        return Target(self.environment.host or "")

    @property
    def facts(self) -> Facts:
        """What was known of the server at the start; a master hands it to its workers."""
        cap, ttl_s, crowded = self.options.halogen_facts
        return Facts(cap, ttl_s, crowded)

    @property
    def id(self) -> str:
        """Stands in every name of this run, so that others' names are not taken for ours."""
        return str(self.options.halogen_run)

    @property
    def slot(self) -> str:
        """A number for a user that no other user of this run has, in any process."""
        runner = self.environment.runner
        index = runner.worker_index if isinstance(runner, WorkerRunner) else 0
        return f"{index}.{next(self.numbers)}"

    def look(self) -> None:
        """Before the first user: is the server there, and what does it hold?"""
        self.ledger, self.failure, self.concluded = Ledger(), None, False
        self.gauges.clear()
        self.began = time.time()
        self.options.halogen_run = uuid.uuid4().hex[:8]
        self.options.halogen_facts = (0, 0.0, True)
        try:
            listed = self.target.names()
        except (TargetLost, NoSessions) as error:
            self.failure = error
            return
        choice = self.settings
        known = facts(listed, cap=choice.handles, ttl_s=choice.ttl, needed=0)
        together = choice.most_open if choice.shape == "open" else self.users
        needed = together * SCENARIOS[choice.scenario].names(choice, known.cap, together)
        known = facts(listed, cap=choice.handles, ttl_s=choice.ttl, needed=needed)
        crowded = known.crowded or choice.may_release
        self.options.halogen_facts = (known.cap, known.ttl_s, crowded)

    @property
    def patience_s(self) -> float:
        """How long is waited at the end for users to finish and for workers to report."""
        return (self.environment.stop_timeout or 0.0) + _REST_S

    # What processes tell each other.

    def flush(self) -> None:
        """Note how busy this process is; a worker sends what is new to its master. Endless."""
        while True:
            gevent.sleep(FLUSH_S)
            if not isinstance(self.environment.runner, MasterRunner):
                self.ledger.measure()
            self.send()

    def send(self) -> None:
        """A worker: send what is new."""
        runner = self.environment.runner
        if isinstance(runner, WorkerRunner):
            resting = self.ledger.open == 0 and runner.user_count == 0
            runner.send_message(MESSAGE, {**self.ledger.drain(), "resting": resting})

    def receive(self, environment: Environment, msg: Any, **_: Any) -> None:
        """The master: take in what a worker sent."""
        self.ledger.absorb(msg.data, msg.node_id)
        self._reports[msg.node_id] = (time.time(), msg.data["resting"])

    def at_rest(self, since: float) -> bool:
        """No user is left anywhere, and all that they saw is in the ledger."""
        runner = self.environment.runner
        if isinstance(runner, MasterRunner):
            reports = [self._reports.get(client.id) for client in runner.clients.all]
            return all(told is not None and told[1] and told[0] > since for told in reports)
        return self.ledger.open == 0 and (runner is None or runner.user_count == 0)

    # What only one process does: look at the server from the side.

    def watch(self) -> None:
        """Look at the list and the gauges, again and again. Endless."""
        while True:
            # The users say what becomes of requests; the end of the run looks again.
            with suppress(TargetLost, NoSessions):
                self._glance()
            gevent.sleep(WATCH_S)

    def _glance(self) -> None:
        at = time.time()
        listed = self.target.names()
        findings = []
        if not self.settings.replicas:
            self.ledger.counts.update(["checked cap"])
            findings = judge_list(listed, cap=self.facts.cap, prefix=f"lt-{self.id}-")
        for one in findings:
            script = curls(one.expected, [], [LIST_REQUEST])
            self.ledger.broken(
                Violation(
                    one.invariant, one.expected, one.actual, "list of names", at, script=script
                )
            )
        self.gauges.append(Gauge(at, listed.count or 0, self.target.gauges()))


_RUNS: dict[int, Run] = {}


def run_of(environment: Environment) -> Run:
    """The run of this environment; made at the first call."""
    return _RUNS.setdefault(id(environment), Run(environment))
