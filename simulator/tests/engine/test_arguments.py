"""Arguments that fit, held against a real validator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from halogen_simulator.arguments import fitting

LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 30},
        {"type": "string", "maxLength": 2},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "integer", "minimum": 200},
        {"type": "integer", "maximum": -3},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"const": {"x": 1}},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items, "minItems": 2}, inner),
        st.builds(
            lambda properties, closed: {
                "type": "object",
                "properties": properties,
                "required": list(properties)[:1],
                "additionalProperties": not closed,
            },
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.booleans(),
        ),
    ),
    max_leaves=8,
)


@given(SCHEMAS, st.binary(min_size=16, max_size=16))
def test_values_fit(schema: dict[str, object], digest: bytes) -> None:
    Draft202012Validator(schema).validate(fitting(schema, digest))


def test_references_are_followed() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"at": {"$ref": "#/$defs/n"}}}
    value = fitting({**schema, "type": "object", "required": ["at"]}, bytes(16))
    assert isinstance(value["at"], int)


@pytest.mark.parametrize("schema", [True, None, {"type": "object", "properties": 3}, {"type": []}])
def test_odd_schemas_do_no_harm(schema: object) -> None:
    fitting(schema, bytes(16))


def test_a_schema_without_end_ends() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    fitting(schema, bytes(16))
