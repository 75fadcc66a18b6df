"""Requests made from the OpenAPI document by Schemathesis, sent by the suite's own client.

Schemathesis makes the cases and the order in which links lead from one to the next. The sending
stays ours, so that every exchange has its deadlines and its place in the report. Its import takes
a second, so it waits until somebody wants to fuzz.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from halogen_conformance.drivers.answer import OUTCOMES
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import FROM, KEEP, Header, Request
from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.outcomes import Miss, expect
from halogen_conformance.schema import PATHS, check_exchange, document

BUSY = frozenset({503, 529})
"""The 5xx a server may answer: too much to do just now."""
ROUTES = {path: route for route, path in PATHS.items()}
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_MOST_TOKENS, _MOST_CHOICES, _LOOK_EVERY = 4, 2, 5


class Enough(Exception):
    """The time is over. Ends a run of Hypothesis from within."""


@dataclass(slots=True)
class Fuzzer:
    """Sends cases and judges their answers, until ``seconds`` have passed."""

    client: Client
    cap: int | None
    """Most names the list may have, if that is known."""
    seconds: float
    sent: int = 0
    answered: int = 0
    ended: Enough | Miss | None = None
    """Why no more is sent."""
    _begin: float | None = None

    def send(self, case: Any) -> Exchange:
        """Send one case of Schemathesis. Raises Enough, and Miss for an answer that is wrong."""
        try:
            return self._send(case)
        except (Enough, Miss) as end:
            # Hypothesis may wrap or replace it, because a second time it would not happen.
            self.ended = self.ended or end
            raise

    def run(self, walk: Callable[[], object]) -> None:
        """Run Hypothesis until it is done or the time is over. Raises Miss."""
        try:
            walk()
        except Exception:
            if self.ended is None:
                raise
        if isinstance(self.ended, Miss):
            raise self.ended

    def _send(self, case: Any) -> Exchange:
        # To make the first case takes longest; that is not the server's time.
        self._begin = self._begin or time.monotonic()
        if self.ended or time.monotonic() - self._begin > self.seconds:
            raise Enough
        headers = _session_headers(case.headers or {})
        request = Request(
            str(case.operation.method).upper(),
            case.operation.path,
            headers,
            tame(case.body),
            ROUTES.get(case.operation.path),
            deliberately_bad=True,  # or not: what it is, is for the server to tell
        )
        exchange = self.client.send(request)
        self.sent += 1
        self.answered += exchange.status == 200
        self.judge(exchange, asked=any(name == FROM for name, _ in headers))
        if self.sent % _LOOK_EVERY == 0:
            self.look()
        return exchange

    def judge(self, exchange: Exchange, *, asked: bool) -> None:
        status = exchange.status
        expect(
            status is not None and (status < 500 or status in BUSY),
            expected="an answer that is no 5xx",
            actual=f"{status or 'none'} {exchange.error} {exchange.body[:200]!r}",
        )
        problems = [str(problem) for problem in check_exchange(exchange)]
        expect(not problems, expected="an answer that fits the document", actual=problems)
        outcomes = exchange.header(FROM)
        legal = len(outcomes) <= 1 and all(outcome in OUTCOMES for outcome in outcomes)
        if asked and status == 200 and exchange.route != "count_tokens":
            legal = legal and len(outcomes) == 1
            expect(
                legal, expected="one legal X-Halogen-From", actual=outcomes, requirement="FROM-1"
            )
        expect(legal, expected="no X-Halogen-From but a legal one", actual=outcomes)

    def look(self) -> None:
        """The list is never longer than the cap allows."""
        handles = self.client.names()
        count = handles.count if handles else None
        if count is not None and self.cap is not None:
            expect(
                count <= self.cap,
                expected=f"at most {self.cap} names listed",
                actual=count,
                requirement="LIFE-3",
            )


def _session_headers(headers: Any) -> tuple[Header, ...]:
    """The headers of the protocol out of those of a case; others would not be legal HTTP."""
    wanted = {KEEP.lower(): KEEP, FROM.lower(): FROM}
    found = [
        (wanted[name.lower()], value) for name, value in headers.items() if name.lower() in wanted
    ]
    return tuple((name, value) for name, value in found if not {"\r", "\n"} & set(value))


def tame(body: Any) -> Any:
    """The same body, but asking for a few tokens only. What is no number stays as it is."""
    if not isinstance(body, dict | list | str | int | float | bytes | None):
        return None  # Schemathesis' word for no body
    if not isinstance(body, dict):
        return body
    tamed = dict(body)
    for key, most in (*((key, _MOST_TOKENS) for key in _LIMITS), ("n", _MOST_CHOICES)):
        value = tamed.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            tamed[key] = min(value, most)
    if not any(key in tamed for key in _LIMITS):
        tamed["max_output_tokens" if "input" in tamed else "max_tokens"] = _MOST_TOKENS
    return tamed


def _settings(home: Path, **more: Any) -> Any:
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.configuration import set_hypothesis_home_dir

    # Its files are not to appear in the folder the user happens to be in.
    set_hypothesis_home_dir(str(home))
    slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    # Nothing is shrunk: that would take the server more requests than the whole run.
    return settings(
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*slow, HealthCheck.large_base_example],
        **more,
    )


@cache
def _schema() -> Any:
    """Loaded once: what Schemathesis makes of a schema is most of the work of making a case."""
    import schemathesis

    return schemathesis.openapi.from_dict(document())


def fuzz(fuzzer: Fuzzer, route: str, seed: int, home: Path, *, valid: bool) -> None:
    """Send cases of one operation: those that fit the document, or those that do not."""
    import hypothesis
    import schemathesis

    operation: Any = _schema()[PATHS[route]]["POST"]
    mode = schemathesis.GenerationMode.POSITIVE if valid else schemathesis.GenerationMode.NEGATIVE

    def run(case: Any) -> None:
        fuzzer.send(case)

    cases = hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    test = _settings(home, max_examples=40)(hypothesis.seed(seed)(cases(run)))
    fuzzer.run(test)


def follow_links(fuzzer: Fuzzer, seed: int, home: Path) -> None:
    """Walk along the document's links: keep, start from what was kept, look at the list."""
    import hypothesis

    machine: Any = _schema().as_state_machine()

    class Walk(machine):  # type: ignore[misc]
        def call(self, case: Any, **_: Any) -> Any:
            return _response(fuzzer.send(case), case)

        def validate_response(self, *_: Any, **__: Any) -> None:
            """Judged when it was sent."""

    hypothesis.seed(seed)(Walk)
    settings = _settings(home, max_examples=20, stateful_step_count=6)
    fuzzer.run(lambda: Walk.run(settings=settings))


def _response(exchange: Exchange, case: Any) -> Any:
    """An exchange as Schemathesis knows it, for the expressions in links."""
    import requests
    import schemathesis

    sent = requests.Request(exchange.method, "http://target" + exchange.path).prepare()
    sent.headers.update({name: value for name, value in (case.headers or {}).items()})
    headers: dict[str, list[str]] = {}
    for name, value in exchange.headers:
        headers.setdefault(name, []).append(value)
    return schemathesis.Response(
        exchange.status or 0, headers, exchange.body, sent, exchange.seconds, verify=False
    )
