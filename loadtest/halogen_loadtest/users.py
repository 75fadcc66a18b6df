"""The users of a run: with session headers, and the same without them."""

import random
from collections import deque
from typing import Any

import gevent
from gevent.pool import Group
from locust import FastHttpUser, task
from locust.user.task import LOCUST_STATE_STOPPING

from halogen_loadtest.run import Run, run_of
from halogen_loadtest.scenarios import SCENARIOS, Iterate
from halogen_loadtest.scenarios.churn import names_each
from halogen_loadtest.talk import Talk, driver_for

_DONE_S = 1.0


class AgentUser(FastHttpUser):
    """Plays its scenario again and again; with the open shape, begins it at random times and
    does not wait for it to end."""

    abstract = True
    sessions = True
    # One user asks many things at once; how many is the scenario's business.
    concurrency = 1_000_000
    insecure = False
    max_redirects = 0
    connection_timeout = 10.0

    def __init__(self, environment: Any) -> None:
        self.run_: Run = run_of(environment)
        self.settings = self.run_.settings
        self.network_timeout = self.settings.idle_limit
        super().__init__(environment)
        self._begun = 0
        self._free: deque[Iterate] = deque()
        self._under_way = Group()

    def _is_done(self) -> bool:
        return 0 < self.settings.iterations <= self._begun

    def wait_time(self) -> float:
        """Whoever is done waits for the end: Locust would replace users that leave."""
        if self._is_done():
            return _DONE_S
        return 0.0 if self.settings.shape == "open" else self.settings.think

    def _script(self) -> Iterate:
        """What one who talks does; each has names of its own."""
        run, settings = self.run_, self.settings
        slot = run.slot
        number = int(slot.partition(".")[2])
        route = "messages" if settings.scenario == "claude-code" else settings.route
        talk = Talk(
            session=self.client,
            environment=self.environment,
            settings=settings,
            facts=run.facts,
            ledger=run.ledger,
            # What stands before the slash is one family: proxies may keep it together.
            prefix=f"lt-{run.id}-{slot}/",
            driver=driver_for(route, number),
            sessions=self.sessions,
            leaving=lambda: self._state == LOCUST_STATE_STOPPING,
            rng=random.Random(f"{settings.seed}/{slot}"),
        )
        names = names_each(settings.names, run.facts.cap, run.users)
        return SCENARIOS[settings.scenario].begin(talk, names)

    @task
    def iterate(self) -> None:
        """One iteration, or one arrival."""
        if self.settings.shape == "open":
            self._arrive()
            return
        if self._is_done():
            return
        if not self._free:
            self._free.append(self._script())
        self._free[0]()
        self.run_.ledger.counts["iterations"] += 1
        self._begun += 1
        if self._is_done():
            self.run_.ledger.counts["users done"] += 1

    def _arrive(self) -> None:
        rate = self.settings.arrivals / self.run_.users
        gevent.sleep(random.expovariate(rate))
        if len(self._under_way) * self.run_.users >= self.settings.most_open:
            self.run_.ledger.counts["dropped"] += 1
            return
        script = self._free.popleft() if self._free else self._script()
        self._under_way.spawn(self._one, script)

    def _one(self, script: Iterate) -> None:
        script()
        self.run_.ledger.counts["iterations"] += 1
        self._free.append(script)

    def on_stop(self) -> None:
        try:
            self._under_way.join()
        finally:
            self._under_way.kill()


class WithSessions(AgentUser):
    """Sends X-Halogen-Keep and X-Halogen-From."""


class WithoutSessions(AgentUser):
    """The same conversations without the headers, for ``--compare``."""

    sessions = False
