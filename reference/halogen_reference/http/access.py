"""Who is let in: API keys (AUTH)."""

import hmac
from collections.abc import Mapping, Sequence

from halogen_reference.errors import RequestError


def admit(key: str, keys: Sequence[str]) -> None:
    """Let a key in, or raise RequestError 401. With no keys set everybody is let in.

    Every comparison takes the same time whatever the key, and all of them are made, so that the
    answer's time tells nothing.
    """
    if not keys:
        return
    given = key.encode()
    matches = [hmac.compare_digest(given, known.encode()) for known in keys]
    if not any(matches):
        what = "is not the one this server takes" if key else "is missing"
        message = f"the API key {what}: send it as 'Authorization: Bearer KEY' or 'x-api-key: KEY'"
        raise RequestError(401, message, headers={"www-authenticate": "Bearer"})


def presented_key(headers: Mapping[str, str]) -> str:
    """The key in a request's headers, or nothing (AUTH-2). ``x-api-key`` goes first."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return (headers.get("x-api-key", "") or (token if kind.lower() == "bearer" else "")).strip()
