"""Counters for Prometheus, in the client library's own text form."""

import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from halogen_reference.engine.protocol import Done, Pool

_FIRST_TOKEN_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_BETWEEN_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class Metrics:
    """One registry for one server; ``pool`` and ``names`` are read when it is scraped."""

    def __init__(self, pool: Callable[[], Pool], names: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Gauges(pool, names))
        self.requests = Counter(
            "halogen_requests",
            "Requests answered, by route, HTTP status and session outcome.",
            ["route", "status", "outcome"],
            registry=self._registry,
        )
        prompt = Counter(
            "halogen_prompt_tokens",
            "Prompt tokens, evaluated or reused from a state.",
            ["how"],
            registry=self._registry,
        )
        self._evaluated = prompt.labels("evaluated")
        self._reused = prompt.labels("reused")
        self._output = Counter(
            "halogen_output_tokens", "Tokens generated.", registry=self._registry
        )
        self._first = Histogram(
            "halogen_time_to_first_token_seconds",
            "From a request's arrival in the queue to its first text.",
            buckets=_FIRST_TOKEN_BUCKETS,
            registry=self._registry,
        )
        self._between = Histogram(
            "halogen_inter_token_seconds",
            "From one piece of text to the next.",
            buckets=_BETWEEN_BUCKETS,
            registry=self._registry,
        )

    def watch(self, prompt: int = 0) -> "Watch":
        """A stop-watch for one reply to a prompt of that many tokens, started now."""
        return Watch(self, prompt)

    def page(self) -> bytes:
        """The text Prometheus scrapes."""
        return generate_latest(self._registry)


class Watch:
    """Times one reply."""

    def __init__(self, metrics: Metrics, prompt: int) -> None:
        self._metrics = metrics
        self._prompt = prompt
        self._last = time.perf_counter()
        self._begun = False

    def text(self) -> None:
        """Some text was released."""
        now = time.perf_counter()
        histogram = self._metrics._between if self._begun else self._metrics._first
        histogram.observe(now - self._last)
        self._last, self._begun = now, True

    def done(self, done: Done) -> None:
        """The reply has ended."""
        self._metrics._evaluated.inc(done.evaluated)
        self._metrics._reused.inc(max(0, self._prompt - done.evaluated))
        self._metrics._output.inc(done.output)


class _Gauges(Collector):
    def __init__(self, pool: Callable[[], Pool], names: Callable[[], int]) -> None:
        self._pool, self._names = pool, names

    def collect(self) -> Iterator[GaugeMetricFamily]:
        pool = self._pool()
        values = {
            "halogen_live_names": ("Names that are live.", self._names()),
            "halogen_kv_cells": ("KV cells, one token each.", pool.cells),
            "halogen_kv_cells_used": ("KV cells in use.", pool.used),
            "halogen_kv_cells_shared": ("KV cells several sequences use.", pool.shared),
            "halogen_requests_running": ("Replies being generated.", pool.running),
            "halogen_requests_waiting": ("Requests in the queue.", pool.waiting),
        }
        for name, (text, value) in values.items():
            yield GaugeMetricFamily(name, text, value=value)
