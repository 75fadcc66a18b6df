"""The OpenAPI document itself: whole, legal and linked."""

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from halogen_conformance.drivers.sse import SseEvent
from halogen_conformance.schema import (
    PATHS,
    _fits,
    _validator,
    check_body,
    check_event,
    document,
    validate,
)


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)


def _resolve(pointer: str) -> Any:
    found: Any = document()
    for step in pointer.removeprefix("#/").split("/"):
        found = found[step]
    return found


def test_it_is_openapi_31_and_has_all_routes() -> None:
    assert document()["openapi"].startswith("3.1.")
    assert set(document()["paths"]) == set(PATHS.values())


def test_every_reference_and_event_schema_leads_somewhere() -> None:
    references = [node["$ref"] for node in _walk(document()) if isinstance(node.get("$ref"), str)]
    for node in _walk(document()):
        references += list(node.get("x-event-schemas", {}).values())
    assert len(references) > 50
    for pointer in references:
        assert _resolve(pointer) is not None, pointer


def test_every_component_is_a_legal_schema() -> None:
    for schema in document()["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_component_is_used() -> None:
    used = {node["$ref"] for node in _walk(document()) if isinstance(node.get("$ref"), str)}
    for node in _walk(document()):
        used |= set(node.get("x-event-schemas", {}).values())
    names = {f"#/components/schemas/{name}" for name in document()["components"]["schemas"]}
    assert names - used == {"#/components/schemas/HandleList"}  # the reference's own shape


def test_operations_are_named_after_their_route_and_linked() -> None:
    operations = {route: next(iter(_resolve_path(path).values())) for route, path in PATHS.items()}
    assert {route: one["operationId"] for route, one in operations.items()} == {
        route: route for route in PATHS
    }
    for route in ("chat", "messages", "responses"):
        links = operations[route]["responses"]["200"]["links"]
        assert links["startFromKept"]["operationId"] == route
        assert links["startFromKept"]["parameters"] == {
            "header.X-Halogen-From": "$request.header.X-Halogen-Keep"
        }
        assert links["seeItListed"] == {"$ref": "#/components/links/SeeItListed"}
    assert document()["components"]["links"]["SeeItListed"]["operationId"] == "handles"


def _resolve_path(path: str) -> Any:
    return document()["paths"][path]


def test_further_fields_pass_and_missing_ones_do_not() -> None:
    body = {"error": {"message": "m", "type": "t", "new": 1}, "extra": []}
    assert check_body("chat", 404, body) == []
    assert str(check_body("chat", 404, {"error": {"message": "m"}})[0]) == (
        "body.error: 'type' is a required property"
    )


def test_the_list_may_have_any_json_container_and_the_status_decides() -> None:
    assert check_body("handles", 200, []) == []
    assert check_body("handles", 200, "a") != []
    assert check_body("handles", 301, "a") == []


def test_events_outside_the_table_pass_and_data_that_is_no_json_is_left_to_the_fold() -> None:
    for data in ('{"type": "ping"}', '{"type": 3}', "[1]", "{", "[DONE]", None):
        assert check_event("messages", SseEvent(data), "event") == []
    assert check_event("chat", SseEvent("[1]"), "event") != []


SEEDS = (
    {"model": "m", "messages": [{"role": "user", "content": "a"}], "max_tokens": 4, "stop": ["b"]},
    {"error": {"message": "m", "type": "t", "param": None, "code": None}},
    {"object": "list", "data": [{"name": "n", "tokens": 1}], "max_handles": 8, "ttl_s": 600},
)
LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2.0, 10**400, "", "user", "\ud800", [], {}, ["a"]]
)


@given(st.sampled_from(SEEDS), LEAVES, st.data())
def test_the_quick_look_and_the_thorough_one_agree(
    seed: dict[str, Any], leaf: Any, data: st.DataObject
) -> None:
    value = copy.deepcopy(seed)
    nodes = [*_walk(value)]
    node = data.draw(st.sampled_from(nodes))
    node[data.draw(st.sampled_from([*node, "new"]))] = leaf
    for name in ("ChatRequest", "MessagesRequest", "ResponsesRequest", "OpenAIError", "HandleList"):
        pointer = f"#/components/schemas/{name}"
        assert _fits(pointer, value) <= _validator(pointer).is_valid(value)


def test_messages_of_problems_are_short() -> None:
    [problem] = validate("SessionName", "é" * 5000, "name")[:1]
    assert len(str(problem)) < 320
