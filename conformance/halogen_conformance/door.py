"""Whether a server lets us in, before a hundred tests each find that it does not."""

from __future__ import annotations

from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import Request
from halogen_conformance.drivers.handles import LIST_REQUEST

# Nothing to answer: a server that lets us in refuses it for that, at once.
_EMPTY = Request("POST", "/v1/chat/completions", body={}, route="chat", deliberately_bad=True)


def lets_in(url: str, key: str | None) -> bool:
    """False when two routes answer 401 (AUTH-1). One alone may be a mistake of the server's, which
    is for the tests to find."""
    client = Client(url, key)
    return any(client.send(request).status != 401 for request in (LIST_REQUEST, _EMPTY))
