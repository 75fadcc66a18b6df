"""What Locust loads: `locust -f` this file, or let `halogen-loadtest run` do it."""

import logging
import os
import signal
from typing import Any

import gevent
from locust import events
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from halogen_loadtest import options
from halogen_loadtest.console import Terminal
from halogen_loadtest.display import Display
from halogen_loadtest.end import conclude
from halogen_loadtest.run import MESSAGE, Run, run_of
from halogen_loadtest.shape import Load
from halogen_loadtest.users import WithoutSessions, WithSessions
from halogen_loadtest.verdict import Exit

_DISPLAYS: dict[int, Display] = {}

__all__ = ["Load", "WithSessions", "WithoutSessions"]


def _add_options(parser: Any) -> None:
    options.add_to(parser)


def _prepare(environment: Environment, **_: Any) -> None:
    run = run_of(environment)
    runner = environment.runner
    problem = options.problem_in(run.settings)
    if problem is not None:
        raise SystemExit(f"halogen-loadtest: {problem}")
    if isinstance(runner, WorkerRunner):
        run.ledger.worker = runner.client_id
    if isinstance(runner, MasterRunner):
        runner.register_message(MESSAGE, run.receive)
    gevent.spawn(run.flush)
    _heed_signals(run)
    # All users at once is what is asked for here; Locust would warn of it each time.
    logging.getLogger("locust.runners").addFilter(
        lambda told: "spawn rate is very high" not in told.getMessage()
    )


def _heed_signals(run: Run) -> None:
    """The first interrupt ends the run in good order, as its time would; the second at once.

    The processes of one machine all hear an interrupt that is typed: workers leave the first to
    their master, and go by themselves if it does not tell them to.
    """
    heard: list[int] = []

    def hear(number: int) -> None:
        heard.append(number)
        if len(heard) > 1:
            os._exit(int(Exit.OUR_ERROR))
        if run.is_worker:
            gevent.spawn_later(run.patience_s, os._exit, int(Exit.OUR_ERROR))
        run.stopping = True

    if not run.is_worker:
        gevent.signal_handler(signal.SIGTERM, hear, signal.SIGTERM)
    if not run.is_worker or run.options.processes:
        gevent.signal_handler(signal.SIGINT, hear, signal.SIGINT)


def _start(environment: Environment, **_: Any) -> None:
    run = run_of(environment)
    if not run.is_worker:
        run.look()
        if id(environment) not in _DISPLAYS:
            _DISPLAYS[id(environment)] = Display(run, Terminal())
            gevent.spawn(_DISPLAYS[id(environment)].show)
            gevent.spawn(run.watch)


def _stop(environment: Environment, **_: Any) -> None:
    """With Locust's web page a run ends without the process, and another may follow."""
    run = run_of(environment)
    if not run.is_worker and not run.options.headless:
        environment.process_exit_code = int(conclude(run))


def _finish(environment: Environment, **_: Any) -> None:
    if id(environment) in _DISPLAYS:
        _DISPLAYS[id(environment)].stop()
    run = run_of(environment)
    if not run.is_worker and not run.concluded:
        environment.process_exit_code = int(conclude(run))


events.init_command_line_parser.add_listener(_add_options)  # type: ignore[no-untyped-call]
events.init.add_listener(_prepare)  # type: ignore[no-untyped-call]
events.test_start.add_listener(_start)  # type: ignore[no-untyped-call]
events.test_stop.add_listener(_stop)  # type: ignore[no-untyped-call]
events.quitting.add_listener(_finish)  # type: ignore[no-untyped-call]
