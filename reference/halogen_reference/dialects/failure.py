"""Error answers: the status and the body each family of routes gives a failed request."""

from typing import NamedTuple

from halogen_reference.dialects.fields import JsonObject
from halogen_reference.errors import RequestError


class ErrorAnswer(NamedTuple):
    """A whole error answer: HTTP status, headers besides the usual ones, JSON body."""

    status: int
    headers: dict[str, str]
    body: JsonObject


_OPENAI_TYPES = {
    403: "permission_error",
    408: "timeout_error",
    429: "rate_limit_error",
}
_OPENAI_CODES = {
    401: "invalid_api_key",
    413: "request_too_large",
    429: "rate_limit_exceeded",
    503: "overloaded",
}
_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}
_ANTHROPIC_STATUSES = {503: 529}
"""Messages has a status of its own for a busy server; its clients tell it from a broken one."""

THREAD_NOT_FOUND = "thread_not_found"
"""The code by which the anthropic SDK knows that it must send the whole history again (P17)."""


def openai_error(error: RequestError, request_id: str = "") -> ErrorAnswer:
    """The shape of Chat Completions and Responses. ``request_id`` stands in a header there."""
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    body: JsonObject = {
        "message": error.message,
        "type": _OPENAI_TYPES.get(error.status, kind),
        "param": error.param,
        "code": error.code or _OPENAI_CODES.get(error.status),
    }
    return ErrorAnswer(error.status, dict(error.headers), {"error": body})


def anthropic_error(error: RequestError, request_id: str = "") -> ErrorAnswer:
    """The shape of Messages, which has no field for the parameter: the message names it."""
    kind = "api_error" if error.status >= 500 else "invalid_request_error"
    message = error.message
    # Agent programs read two numbers out of this one message: it stays as it is.
    exact = error.code == "context_length_exceeded"
    if error.param and error.param not in message and not exact:
        message = f"{error.param}: {message}"
    problem: JsonObject = {"type": _ANTHROPIC_TYPES.get(error.status, kind), "message": message}
    if error.code == THREAD_NOT_FOUND:
        problem["details"] = {"error_code": error.code}
    body: JsonObject = {"type": "error", "error": problem, "request_id": request_id}
    status = _ANTHROPIC_STATUSES.get(error.status, error.status)
    return ErrorAnswer(status, dict(error.headers), body)
