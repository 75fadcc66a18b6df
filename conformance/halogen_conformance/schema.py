"""Checks against the OpenAPI document that the suite ships: answers, events, own requests."""

from functools import cache
from importlib.resources import files

import jsonschema
import jsonschema_rs
import yaml
from jsonschema.protocols import Validator

from halogen_conformance.drivers.conversation import Json
from halogen_conformance.drivers.driver import BadOwnRequest, Request
from halogen_conformance.drivers.exchange import Exchange
from halogen_conformance.drivers.reading import parse_json
from halogen_conformance.drivers.reply import Problem
from halogen_conformance.drivers.sse import SseEvent

PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "count_tokens": "/v1/messages/count_tokens",
    "responses": "/v1/responses",
    "handles": "/halogen/handles",
}
"""Route name (also the operationId) to its path in the document."""

_MOST = 3
"""Problems reported for one value; more of them help nobody."""


@cache
def document() -> dict[str, Json]:
    """The OpenAPI document. Do not change it: it is shared."""
    source = files("halogen_conformance").joinpath("openapi.yaml").read_text("utf-8")
    loaded: dict[str, Json] = yaml.safe_load(source)
    return loaded


def _root(pointer: str) -> dict[str, Json]:
    """One component as a schema, by its JSON pointer (``#/components/schemas/...``)."""
    # The components travel along as the root, so that every $ref inside them resolves.
    return {"$ref": pointer, "components": document()["components"]}


@cache
def _validator(pointer: str) -> Validator:
    """Finds what is wrong, in words."""
    return jsonschema.Draft202012Validator(_root(pointer))


@cache
def _quick(pointer: str) -> jsonschema_rs.Draft202012Validator:
    """Says at once whether anything is: a run holds ten thousand values against the document."""
    return jsonschema_rs.Draft202012Validator(_root(pointer))


def _fits(pointer: str, value: Json) -> bool:
    try:
        return bool(_quick(pointer).is_valid(value))
    except ValueError:  # half a surrogate pair, a number too large: not for it to judge
        return False


def validate(schema: str, value: Json, where: str) -> list[Problem]:
    """Hold a value against a component schema by name; an empty list means it fits."""
    return _problems(f"#/components/schemas/{schema}", value, where)


def _problems(pointer: str, value: Json, where: str) -> list[Problem]:
    if _fits(pointer, value):
        return []
    found = []
    for error in _validator(pointer).iter_errors(value):
        leaf = jsonschema.exceptions.best_match([error]) or error
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in leaf.path)
        found.append(Problem(f"{where}{path}", _brief(leaf.message)))
        if len(found) == _MOST:
            break
    return found


def _brief(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:200]} ... {message[-80:]}"


def _content(route: str, status: int) -> dict[str, Json]:
    """The documented bodies of a route for a status: media type to its media type object."""
    [operation] = document()["paths"][PATHS[route]].values()
    responses = operation["responses"]
    answer = responses.get(str(status)) or responses.get(f"{status // 100}XX") or {}
    content: dict[str, Json] = answer.get("content", {})
    return content


def check_request(request: Request) -> None:
    """Hold one of our own requests against the document. Raises BadOwnRequest."""
    if request.route is None or request.route == "handles" or request.deliberately_bad:
        return
    if isinstance(request.body, bytes):
        try:
            body = parse_json(request.body)
        except ValueError as error:
            raise BadOwnRequest(f"{request.route}: the body is not JSON: {error}") from None
    else:
        body = request.body
    [operation] = document()["paths"][PATHS[request.route]].values()
    schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    problems = _problems(schema, body, "request")
    if problems:
        raise BadOwnRequest(f"{request.route}: " + "; ".join(map(str, problems)))


def check_body(route: str, status: int, body: Json) -> list[Problem]:
    """Hold a JSON answer against the document. An undocumented status has no schema."""
    media = _content(route, status).get("application/json")
    if media is None:
        return []
    schema = media["schema"]
    if "$ref" in schema:
        return _problems(schema["$ref"], body, "body")
    kinds = {"object": dict, "array": list}
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if any(isinstance(body, kinds[kind]) for kind in allowed):
        return []
    return [Problem("body", f"must be a JSON {' or '.join(allowed)}")]


def check_event(route: str, event: SseEvent, where: str) -> list[Problem]:
    """Hold one stream event against its schema; events the document does not know pass.

    Data that is no JSON is not judged here: the fold of the route reports it.
    """
    if event.data is None or event.is_done:
        return []
    try:
        data = parse_json(event.data)
    except ValueError:
        return []
    table = _content(route, 200)["text/event-stream"]["x-event-schemas"]
    kind = data.get("type") if isinstance(data, dict) else None
    pointer = table.get(kind) if isinstance(kind, str) and kind in table else table.get("default")
    return [] if pointer is None else _problems(pointer, data, where)


def check_exchange(exchange: Exchange) -> list[Problem]:
    """Everything the schemas say about one answer: its body, or each event of its stream."""
    if exchange.route is None or exchange.status is None:
        return []
    if exchange.is_stream and exchange.status == 200:
        found: list[Problem] = []
        number = -1
        for timed in exchange.events:
            if timed.event.comment is None:
                number += 1
                found += check_event(exchange.route, timed.event, f"event {number}")
        return found
    if exchange.method == "HEAD" or exchange.left_after is not None:
        return []
    try:
        body = exchange.json()
    except ValueError as error:
        return [Problem("body", f"status {exchange.status} without a JSON body: {error}")]
    return check_body(exchange.route, exchange.status, body)
