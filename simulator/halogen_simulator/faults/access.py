"""Mistakes with API keys (AUTH)."""

from typing import Any

from halogen_reference.dialects.failure import openai_error
from halogen_reference.errors import RequestError
from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.wire import LIST, Asked, Edit, Headers, without

_KEYS = (b"authorization", b"x-api-key")


def _let_in(asked: Asked) -> None:
    keys = asked.server.settings.api_keys
    if keys:
        asked.headers = [*without(asked.headers, *_KEYS), (b"x-api-key", keys[0].encode())]


def _list_is_open(asked: Asked) -> None:
    if asked.path == LIST:
        _let_in(asked)


def _missing_is_fine(asked: Asked) -> None:
    if not any(asked.header(name) for name in _KEYS):
        _let_in(asked)


def _wrong_is_fine(asked: Asked) -> None:
    if any(asked.header(name) for name in _KEYS):
        _let_in(asked)


def _one_shape(asked: Asked) -> tuple[int, Any] | None:
    keys = asked.server.settings.api_keys
    given = {value.decode("latin-1").removeprefix("Bearer ") for value in _values(asked.headers)}
    if asked.path != "/v1/messages" or not keys or given & set(keys):
        return None
    answer = openai_error(RequestError(401, "the API key is missing or wrong"))
    return 401, answer.body


def _values(headers: Headers) -> list[bytes]:
    return [value for name, value in headers if name in _KEYS]


def _no_x_api_key(asked: Asked) -> None:
    asked.headers = without(asked.headers, b"x-api-key")


def _no_bearer(asked: Asked) -> None:
    asked.headers = without(asked.headers, b"authorization")


FAULTS = (
    Fault(
        "list-is-open",
        ("AUTH-1",),
        "The list of names is shown to everybody.",
        app=Edit(ask=_list_is_open),
    ),
    Fault(
        "no-key-is-fine",
        ("AUTH-1",),
        "Only wrong keys are refused; requests without one are let in.",
        app=Edit(ask=_missing_is_fine),
    ),
    Fault(
        "any-key-is-fine",
        ("AUTH-1", "MAP-5"),
        "Every key is let in, right or wrong.",
        app=Edit(ask=_wrong_is_fine),
    ),
    Fault(
        "one-shape-for-401",
        ("AUTH-1", "AUTH-2"),
        "On /v1/messages a 401 has the shape of the other routes.",
        app=Edit(ask=_one_shape),
    ),
    Fault(
        "bearer-only",
        ("AUTH-2",),
        "The key in x-api-key is not seen.",
        app=Edit(ask=_no_x_api_key),
    ),
    Fault(
        "x-api-key-only",
        ("AUTH-2",),
        "The key in Authorization is not seen.",
        app=Edit(ask=_no_bearer),
    ),
)
