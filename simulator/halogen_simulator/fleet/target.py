"""The server that a fleet command talks to, and what is said when it does not answer as it must."""

from typing import TYPE_CHECKING

from halogen_conformance.drivers.connection import Origin
from halogen_simulator.values import wants_a_key

if TYPE_CHECKING:
    import httpx  # slow to load, and the options are read without it

_SHOWN = 160
"""Characters of an error's text that are shown."""


class TargetLost(Exception):
    """The server cannot be reached, or wants another key; the message is one line for a person."""


def connected(url: str, key: str | None, timeout_s: float) -> "httpx.AsyncClient":
    """A client of the server at ``url`` that sends the key. Raises ValueError for another thing
    than an address."""
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        # A proxy of the environment is not for servers that are measured.
        return httpx.AsyncClient(
            base_url=Origin.parse(url).url, headers=headers, timeout=timeout_s, trust_env=False
        )
    except (ValueError, httpx.InvalidURL) as error:
        raise ValueError(f"--base-url {error}") from None


def lost(url: str, error: "httpx.HTTPError") -> TargetLost:
    """What is said of a request that found no server, or a server that went away."""
    import httpx

    why = one_line(str(error)) or type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return TargetLost(
            f"no server at {url} ({why}): start the server with HALOGEN_FORK=1, "
            "or give another --base-url"
        )
    return TargetLost(f"the server at {url} stopped answering ({why}): start it anew")


def told(answer: "httpx.Response") -> str:
    """What is said of an error status, in one line. Raises TargetLost for a 401: without the key
    nothing else can be asked. The body must have been read."""
    if answer.status_code == 401:
        raise TargetLost(wants_a_key("Authorization" in answer.request.headers))
    said = one_line(_message(answer))
    return f"the server answered {answer.status_code}: {said or 'nothing more'}"


def one_line(text: str) -> str:
    """The text without line breaks and control characters, cut when it is long."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."


def _message(answer: "httpx.Response") -> str:
    """The sentence of an OpenAI error; of anything else, such as a proxy's page, its text."""
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, TypeError, KeyError, LookupError):
        return answer.text
