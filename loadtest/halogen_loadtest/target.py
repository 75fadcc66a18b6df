"""The server under load: whether it is there, what its list of names and its gauges say."""

import http.client
import json
import os
import re
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.handles import PATH, Handles

KEY = "HALOGEN_API_KEY"
"""The environment variable with the key that is sent; it is never an option, so that it is in no
process list and in no report."""

DEFAULT_CAP = 8
DEFAULT_TTL_S = 600.0

_GAUGE = re.compile(r"^(halogen_\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
CELLS, CELLS_USED = "halogen_kv_cells", "halogen_kv_cells_used"
_GAUGES = (CELLS, CELLS_USED, "halogen_requests_running", "halogen_requests_waiting")


class TargetLost(Exception):
    """Nothing answers there, or nobody is let in; the text says what was tried and what to do, in
    one line."""


class NoSessions(Exception):
    """A server answers, and it does not offer the protocol."""


@dataclass(frozen=True, slots=True)
class Target:
    """A base URL such as ``http://127.0.0.1:8731``; a path in it is a prefix of every route."""

    url: str

    @property
    def problem(self) -> str | None:
        """What is wrong with the URL, or None."""
        parts = urlsplit(self.url)
        try:
            fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            fine = False
        if not fine or parts.query or parts.fragment or parts.username:
            return f"{self.url!r} is not the address of a server, like http://127.0.0.1:8731"
        return None

    def get(self, path: str, timeout_s: float = 5.0) -> tuple[int, bytes]:
        """Status and body. Raises TargetLost."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(
                host, parts.port, timeout=timeout_s, context=context
            )
        else:
            connection = http.client.HTTPConnection(host, parts.port, timeout=timeout_s)
        try:
            connection.request("GET", parts.path.rstrip("/") + path, headers=auth_headers())
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise TargetLost(
                f"{self.url} does not answer GET {path} ({error}): is the server running there?"
            ) from None
        finally:
            connection.close()

    def names(self) -> Handles:
        """The list of live names. Raises TargetLost, NoSessions."""
        status, body = self.get(PATH)
        if status == 404:
            raise NoSessions(
                f"{self.url} has no list of names (GET {PATH} is 404): "
                "start the server with sessions switched on (HALOGEN_FORK=1)"
            )
        if status == 401:
            wants = "does not take the key in" if auth_headers() else "wants a key: put it into"
            raise TargetLost(f"{self.url} {wants} {KEY} (401)")
        try:
            value: Json = json.loads(body)
        except ValueError:
            value = None
        if status != 200 or value is None:
            raise NoSessions(f"GET {PATH} of {self.url} is no list of names (status {status})")
        return Handles(value)

    def gauges(self) -> dict[str, float]:
        """Gauges of a server that has the reference's ``/metrics``; of others nothing."""
        status, body = self.get("/metrics")
        if status != 200:
            return {}
        found = dict(_GAUGE.findall(body.decode("utf-8", "replace")))
        return {name: float(found[name]) for name in _GAUGES if name in found}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the server before the run. ``crowded``: the run needs more names than it
    holds, so that a name may be gone whenever it is asked for (LIFE-4)."""

    cap: int
    ttl_s: float
    crowded: bool


def facts(listed: Handles, *, cap: int, ttl_s: float, needed: int) -> Facts:
    """From the list before the run; ``cap`` and ``ttl_s`` as declared, 0 for unknown. ``needed``
    is the number of names the run keeps at once."""
    body = listed.body if isinstance(listed.body, dict) else {}
    said_cap, said_ttl = body.get("max_handles"), body.get("ttl_s")
    most = cap or (said_cap if isinstance(said_cap, int) else DEFAULT_CAP)
    ttl = ttl_s or (float(said_ttl) if isinstance(said_ttl, int | float) else DEFAULT_TTL_S)
    return Facts(most, ttl, crowded=needed + (listed.count or 0) > most)


def auth_headers() -> dict[str, str]:
    """The key as a header, if there is one."""
    key = os.environ.get(KEY, "")
    return {"Authorization": f"Bearer {key}"} if key else {}
