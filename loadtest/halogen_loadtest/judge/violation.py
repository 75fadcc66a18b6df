"""A broken rule with what a reader needs to see it again: the exchange, and curl calls."""

import json
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from halogen_conformance.drivers.driver import Request
from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.drivers.secrets import HIDDEN, hide_header
from halogen_loadtest.judge.judge import Finding
from halogen_loadtest.target import auth_headers

_LONGEST = 20_000
"""Characters of a body that are kept."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that did not hold, once. Secrets are hidden; bodies are cut when they are long."""

    invariant: str
    expected: str
    actual: str
    step: str
    """The row of the statistics: which request of which scenario."""
    at: float = field(default_factory=time.time)
    """Unix time."""
    sent: str = ""
    got: str = ""
    script: str = ""
    worker: str = ""

    def plain(self) -> dict[str, Any]:
        """As JSON and msgpack take it."""
        return asdict(self)


def violation(
    finding: Finding,
    step: str,
    exchange: Exchange,
    request: Request,
    before: Iterable[Request] = (),
    beside: Iterable[Request] = (),
) -> Violation:
    """``before``: what was sent to arrange it; ``beside``: what was under way at the same time."""
    return Violation(
        finding.invariant,
        finding.expected,
        finding.actual,
        step,
        exchange.at,
        _cut(_message(exchange.request_headers, exchange.request_body)),
        _cut(f"status {exchange.status}, {_how(exchange)}\n{_answer(exchange)}"),
        curls(f"{finding.invariant}: {finding.expected}", [*before], [*beside, request]),
    )


def _how(exchange: Exchange) -> str:
    ended = f"{exchange.ending.value} after {exchange.seconds:.3f} s"
    return f"{ended} ({exchange.error})" if exchange.error else ended


def _answer(exchange: Exchange) -> str:
    body = exchange.body.decode("utf-8", "backslashreplace")
    if exchange.is_stream:
        lines = []
        for timed in exchange.events:
            name = f"event: {timed.event.name} " if timed.event.name else ""
            what = timed.event.data if timed.event.comment is None else f": {timed.event.comment}"
            lines.append(f"[{timed.seconds:8.3f}] {name}{what}")
        body = "\n".join(lines)
    return _message(exchange.headers, body)


def _message(headers: Iterable[tuple[str, str]], body: str) -> str:
    return "\n".join([*(f"{name}: {value}" for name, value in headers), "", body])


def _cut(text: str) -> str:
    over = len(text) - _LONGEST
    return text if over <= 0 else f"{text[:_LONGEST]}… ({over:,} more characters)"


def curls(title: str, before: Sequence[Request], together: Sequence[Request]) -> str:
    """A shell script that sends the first requests one by one and the others at once."""
    head = [
        "#!/bin/sh",
        f"# {' '.join(title.split())[:200]}",
        "# Usage: sh repro.sh [http://HOST:PORT]     (the key, if any, in $HALOGEN_API_KEY)",
        "BASE=${1:-http://127.0.0.1:8731}",
    ]
    calls = [_curl(request, "") for request in before]
    end = " &" if len(together) > 1 else ""
    calls += [_curl(request, end) for request in together]
    return "\n\n".join(["\n".join(head), *calls, "wait" if end else "echo"]) + "\n"


def _curl(request: Request, end: str) -> str:
    parts = [f'curl -sS -i -N "$BASE"{shlex.quote(request.path)}']
    if auth_headers():
        parts.append('-H "Authorization: Bearer $HALOGEN_API_KEY"')
    parts.append("-H 'Content-Type: application/json'")
    for name, value in request.headers:
        shown = hide_header(name, value if isinstance(value, str) else value.decode("latin-1"))
        if HIDDEN not in shown:
            parts.append(f"-H {shlex.quote(f'{name}: {shown}')}")
    # ASCII alone: it is copied through terminals and editors.
    body = json.dumps(request.body)
    marker = "BODY"
    while marker in body:
        marker += "_"
    parts.append(f"--data-binary @- <<'{marker}'{end}\n{body}\n{marker}")
    return " \\\n  ".join(parts)
