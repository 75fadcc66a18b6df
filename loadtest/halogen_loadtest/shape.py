"""The load over time, as the LoadTestShape that Locust asks once a second."""

import time

from locust import LoadTestShape
from locust.user import User

from halogen_loadtest.phases import Phase, phases, users_at
from halogen_loadtest.run import Run, run_of
from halogen_loadtest.users import WithoutSessions, WithSessions

Tick = tuple[int, float, list[type[User]] | None]


class Load(LoadTestShape):
    """Plays the phases one after the other. Between them, and at the end, all users come to rest:
    Locust changes the kind of users only with their number, and what is under way at the end is
    still to be judged."""

    use_common_options = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._phases: list[Phase] | None = None
        self._began = 0.0
        self._resting_since: float | None = None

    def tick(self) -> Tick | None:
        assert self.runner is not None
        run = run_of(self.runner.environment)
        if run.failure is not None:
            return None
        if self._phases is None:
            self._phases = phases(run.settings, run.options.run_time)
            run.phase_starts.clear()
            self._begin(run)
        now = time.time()
        if self._resting_since is not None:
            if not self._rested(run, now):
                return self._at_rest()
            self._phases = [] if run.stopping else self._phases[1:]
            self._resting_since = None
            if not self._phases:
                self._phases = None  # Locust's web page may begin another run
                return None
            self._begin(run)
        phase, passed = self._phases[0], time.time() - self._began
        done = run.settings.iterations and run.ledger.counts["users done"] >= run.users
        if done or run.stopping or (phase.seconds is not None and passed >= phase.seconds):
            self._resting_since = now
            return self._at_rest()
        users = users_at(run.settings, run.users, phase, passed)
        rate = run.options.spawn_rate or max(1.0, float(run.users))
        return users, rate, [WithSessions if phase.sessions else WithoutSessions]

    def _begin(self, run: Run) -> None:
        self._began = time.time()
        run.phase_starts.append(self._began)

    def _at_rest(self) -> Tick:
        assert self._phases
        kind = WithSessions if self._phases[0].sessions else WithoutSessions
        return 0, 1000.0, [kind]

    def _rested(self, run: Run, now: float) -> bool:
        assert self._resting_since is not None
        late = now - self._resting_since > run.patience_s
        return run.at_rest(self._resting_since) or late
