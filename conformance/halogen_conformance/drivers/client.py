"""A client of one server: sends requests, reads answers, hands every exchange to a recorder."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from halogen_conformance.drivers.answer import Answer, read
from halogen_conformance.drivers.connection import Limits, Origin
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import (
    DEFAULTS,
    Driver,
    Header,
    Options,
    Request,
    session_headers,
)
from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.drivers.handles import LIST_REQUEST, Handles
from halogen_conformance.drivers.perform import OnEvent, perform
from halogen_conformance.drivers.spelling import PLAIN, Spelling
from halogen_conformance.schema import check_exchange, check_request

T = TypeVar("T")


def _no_recorder(_: Exchange) -> None:
    """Record nothing."""


@dataclass(frozen=True, slots=True)
class Leave:
    """When to hang up on purpose: after events (0: at the headers, -1: unanswered), or seconds."""

    after: int | None = None
    after_s: float | None = None


STAY = Leave()


@dataclass(frozen=True, slots=True)
class Client:
    """Immutable and safe to share between threads: each exchange has its own connection.

    ``recorder`` is called with every finished exchange, possibly from several threads at once.
    """

    url: str
    key: str | None = None
    key_header: str = "authorization"
    """``authorization`` sends ``Bearer KEY``; ``x-api-key`` sends the key itself (AUTH-2)."""
    limits: Limits = field(default_factory=Limits)
    recorder: Callable[[Exchange], None] = _no_recorder
    headers: tuple[Header, ...] = ()
    """Sent with every request, e.g. the thread headers of Claude Code."""
    model: str | None = None
    """Replaces the model of requests that leave it at the default."""

    def with_headers(self, *headers: Header) -> "Client":
        return replace(self, headers=(*self.headers, *headers))

    def send(
        self, request: Request, *, leave: Leave = STAY, on_event: OnEvent | None = None
    ) -> Exchange:
        """One exchange. Raises BadOwnRequest for a request that breaks the suite's own schema."""
        check_request(request)
        exchange = perform(
            Origin.parse(self.url),
            request,
            self.limits,
            headers=(*self._auth(), *self.headers),
            leave_after=leave.after,
            leave_after_s=leave.after_s,
            on_event=on_event,
        )
        self.recorder(exchange)
        return exchange

    def ask(
        self,
        driver: Driver,
        conversation: Conversation,
        options: Options = DEFAULTS,
        *,
        keep: str | None = None,
        start: str | None = None,
        spelling: Spelling = PLAIN,
        headers: tuple[Header, ...] = (),
        leave: Leave = STAY,
        on_event: OnEvent | None = None,
    ) -> Answer:
        """Ask for a reply, starting from the name ``start`` and keeping it under ``keep``."""
        if self.model is not None and options.model == DEFAULTS.model:
            options = replace(options, model=self.model)
        request = driver.request(conversation, options, spelling)
        request = request.plus(*session_headers(keep, start), *headers)
        exchange = self.send(request, leave=leave, on_event=on_event)
        answer = read(driver, exchange, streamed=options.stream)
        return replace(answer, problems=(*answer.problems, *check_exchange(exchange)))

    def handles(self) -> Exchange:
        """``GET /halogen/handles``, whatever it answers."""
        return self.send(LIST_REQUEST)

    def names(self) -> Handles | None:
        """The list, or None when it is not answered with status 200 and JSON."""
        exchange = self.handles()
        try:
            return Handles(exchange.json()) if exchange.status == 200 else None
        except ValueError:
            return None

    def _auth(self) -> tuple[Header, ...]:
        if self.key is None:
            return ()
        value = f"Bearer {self.key}" if self.key_header == "authorization" else self.key
        return ((self.key_header, value),)


def together(*tasks: Callable[[], T]) -> list[T]:
    """Run tasks at once, each in its thread, released by one barrier; results in their order.

    Raises the first task's exception once all have ended. Tasks must be bounded in time
    themselves: every exchange is.
    """
    if not tasks:
        return []
    barrier = threading.Barrier(len(tasks))

    def run(task: Callable[[], T]) -> T:
        barrier.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        futures = [pool.submit(run, task) for task in tasks]
    return [future.result() for future in futures]
