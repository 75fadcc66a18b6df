"""The one error a request can end in before its reply starts; each dialect has its own shape."""

from dataclasses import dataclass, field


@dataclass
class RequestError(Exception):
    """A refused or failed request.

    ``status`` is the HTTP status, ``message`` is written for the person who sent the request and
    says what to do, ``param`` names the offending field, ``code`` is the OpenAI error code.
    """

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


def invalid(message: str, param: str | None = None, code: str | None = None) -> RequestError:
    """A 400 for a request that cannot be answered as it stands."""
    return RequestError(400, message, param, code)


def prompt_too_long(tokens: int, limit: int) -> RequestError:
    """A 400 whose wording agent programs parse: Claude Code reads both numbers from it."""
    message = f"prompt is too long: {tokens} tokens > {limit} maximum"
    return RequestError(400, message, "messages", "context_length_exceeded")


def overloaded(message: str) -> RequestError:
    """A 503: the request waited longer than the queue allows. Clients retry after a second."""
    return RequestError(503, message, None, "overloaded", {"retry-after": "1"})
