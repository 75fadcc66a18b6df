"""A shell script of curl calls that repeats what a test did, from its recorded exchanges.

The script needs nothing but `sh` and `curl`: `sh repro.sh http://127.0.0.1:8731`. The API key
is taken from $HALOGEN_API_KEY when it runs and is never written into it. Calls that overlapped
in the run overlap again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence

from halogen_conformance.drivers.secrets import HIDDEN
from halogen_conformance.events import ExchangeSeen, Pairs, TargetChanged
from halogen_conformance.visible import one_line

Step = ExchangeSeen | TargetChanged
USE = "use"  # the action of a test that finds its server running already

_HEAD = """#!/bin/sh
# {title}
# Usage: sh repro.sh [http://HOST:PORT]     (the key, if any, in $HALOGEN_API_KEY)
# Request bodies hold the replies seen in the run: a server whose replies differ from run to run
# needs them replaced by its own.
BASE=${{1:-http://127.0.0.1:8731}}
"""
# curl makes its own, or they would be wrong for a body that was edited.
_CURLS_OWN = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})


def quote(value: str) -> str:
    """The value as one shell word that stays itself, whatever bytes it holds.

    Header values are recorded byte for byte as Latin-1; bytes that a terminal or an editor would
    spoil are written as octal escapes for printf.
    """
    if value.isascii() and value.isprintable():
        return shlex.quote(value)
    octal = "".join(
        char
        if char.isascii() and char.isalnum()
        else "".join(f"\\{byte:03o}" for byte in _bytes(char))
        for char in value
    )
    return f"\"$(printf '{octal}')\""


def _bytes(char: str) -> bytes:
    return char.encode("latin-1") if ord(char) < 256 else char.encode("utf-8", "surrogatepass")


def _header(name: str, value: str) -> str:
    if HIDDEN in value:
        parts = [quote(part) if part else "" for part in f"{name}: {value}".split(HIDDEN)]
        return "-H " + '"$HALOGEN_API_KEY"'.join(parts)
    # `name:` would remove the header; `name;` sends it empty.
    return f"-H {quote(f'{name}: {value}' if value else f'{name};')}"


def _plain_json(body: str) -> str:
    """JSON in pure ASCII, otherwise untouched (double keys, odd blanks): it is copied about.

    Outside its strings JSON is ASCII anyway, so every other character may become an escape.
    """
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return body
    return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in body)


def _marker(body: str) -> str:
    marker = "BODY"
    while marker in body:
        marker += "_"
    return marker


def _call(exchange: ExchangeSeen) -> tuple[str, str]:
    """The curl command up to its end of line, and what must follow it (the body)."""
    parts = ["curl -sS -i -N"]
    parts += ["--head"] if exchange.method == "HEAD" else [f"-X {quote(exchange.method)}"]
    parts.append(f'"$BASE"{quote(exchange.path)}')
    parts += [
        _header(name, value)
        for name, value in exchange.request_headers
        if name.lower() not in _CURLS_OWN
    ]
    tail = ""
    if exchange.request_body:
        body = _plain_json(exchange.request_body)
        marker = _marker(body)
        parts.append(f"--data-binary @- <<'{marker}'")
        tail = f"\n{body}\n{marker}"
    command = " \\\n  ".join(parts)
    if exchange.left_after is not None:
        command += f" | head -c {max(1, exchange.left_after)}"
    return command, tail


def _what(exchange: ExchangeSeen) -> str:
    answer = f"status {exchange.status}" if exchange.status is not None else "no answer"
    parts = [f"{exchange.number}. {exchange.label or exchange.path}", answer]
    outcomes = _values(exchange.response_headers, "x-halogen-from")
    parts += [f"X-Halogen-From: {value}" for value in outcomes]
    parts += [exchange.error] if exchange.error else []
    parts += ["left by the suite on purpose"] if exchange.left_after is not None else []
    return one_line("; ".join(parts), 300)


def _values(headers: Pairs, wanted: str) -> list[str]:
    return [value for name, value in headers if name.lower() == wanted]


def together(exchanges: Sequence[ExchangeSeen]) -> list[list[ExchangeSeen]]:
    """The exchanges in batches: those of one batch were under way at the same time."""
    batches: list[list[ExchangeSeen]] = []
    until = float("-inf")
    for exchange in sorted(exchanges, key=lambda one: (one.at, one.number)):
        if batches and exchange.at < until:
            batches[-1].append(exchange)
        else:
            batches.append([exchange])
        until = max(until, exchange.at + exchange.seconds)
    return batches


def _change(change: TargetChanged) -> str:
    settings = " ".join(f"{name}={quote(value)}" for name, value in change.settings)
    if change.action == USE:
        return f"\n# The server ran with: {one_line(settings) or 'its own settings'}"
    wish = f"{change.action} the server" + (f" with: {settings}" if settings else "")
    return (
        f"\nprintf '%s\\n' {quote(f'>>> Now {one_line(wish)}, then press Enter.')} >&2\nread -r _"
    )


def _batch(batch: Sequence[ExchangeSeen]) -> str:
    lines: list[str] = []
    for exchange in batch:
        command, tail = _call(exchange)
        end = " &" if len(batch) > 1 else ""
        lines.append(f"\n# {_what(exchange)}\n{command}{end}{tail}\n")
    lines.append("wait\n" if len(batch) > 1 else "echo\n")
    return "".join(lines)


def script(title: str, steps: Iterable[Step]) -> str:
    """The whole script; empty if there was no exchange to repeat."""
    ordered = list(steps)
    if not any(isinstance(step, ExchangeSeen) for step in ordered):
        return ""
    out = [_HEAD.format(title=one_line(title, 300))]
    waiting: list[ExchangeSeen] = []

    def flush() -> None:
        out.extend(_batch(batch) for batch in together(waiting))
        waiting.clear()

    for step in ordered:
        if isinstance(step, ExchangeSeen):
            waiting.append(step)
        else:
            flush()
            out.append(_change(step) + "\n")
    flush()
    return "".join(out)
