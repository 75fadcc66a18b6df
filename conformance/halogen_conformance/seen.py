"""From the client's record of an exchange to the event that tells of it."""

from __future__ import annotations

from halogen_conformance.drivers.driver import FROM, KEEP
from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.events import ExchangeSeen


def _label(exchange: Exchange) -> str:
    """What the exchange is about in the protocol's words: `from a, keep b`."""
    words = {FROM.lower(): "from", KEEP.lower(): "keep"}
    parts = [
        f"{words[name.lower()]} {value[:40]}"
        for name, value in exchange.request_headers
        if name.lower() in words
    ]
    return ", ".join(parts)


def seen(exchange: Exchange) -> ExchangeSeen:
    """The event; the recorder fills in its test and number."""
    body = "" if exchange.is_stream else exchange.body.decode("utf-8", "backslashreplace")
    return ExchangeSeen(
        test="",
        number=0,
        method=exchange.method,
        path=exchange.path,
        at=exchange.at,
        seconds=exchange.seconds,
        label=_label(exchange),
        route=exchange.route or "",
        streaming=exchange.is_stream,
        request_headers=exchange.request_headers,
        request_body=exchange.request_body,
        status=exchange.status,
        response_headers=exchange.headers,
        response_body=body,
        frames=exchange.frames if exchange.is_stream else (),
        first_byte_s=exchange.first_byte_s,
        error=exchange.error,
        left_after=exchange.left_after,
    )
