"""FROM-8: one JSON value has one spelling, and two values never share one."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.conversation import canonical_arguments, canonical_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def turned_round(value: object) -> object:
    """The same value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: turned_round(item) for key, item in reversed(value.items())}
    if isinstance(value, list):
        return [turned_round(item) for item in value]
    return value


def same(one: object, two: object) -> bool:
    """Equal as JSON values: Python's ``1 == True`` is no equality of JSON."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    return (type(one) is type(two) and one == two) or (_number(one) and _number(two) and one == two)


def _number(value: object) -> bool:
    return isinstance(value, int | float)


@given(VALUES)
def test_the_order_of_keys_is_no_difference(value: object) -> None:
    assert canonical_json(turned_round(value)) == canonical_json(value)


@given(VALUES)
def test_it_is_json_of_the_same_value(value: object) -> None:
    assert same(json.loads(canonical_json(value)), value)


@given(VALUES)
def test_canonical_text_is_canonical(value: object) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text


@given(VALUES, VALUES)
def test_equal_texts_are_equal_values(one: object, two: object) -> None:
    assert (canonical_json(one) == canonical_json(two)) is same(one, two)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ({"o": {"z": [], "y": {}}}, '{"o":{"y":{},"z":[]}}'),
        (2.0, "2"),
        (-0.0, "0"),
        ([1.0, {"x": 3.0}], '[1,{"x":3}]'),
        (2.5, "2.5"),
        (1e300, str(10**300 + (int(1e300) - 10**300))),
        ([3, 1, 2], "[3,1,2]"),
        ([True, 1, "1", None], '[true,1,"1",null]'),
        ("é\n", '"é\\n"'),
    ],
)
def test_spelling(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [math.nan], {"a": [math.inf]}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", "{}"),
        (" \n", "{}"),
        ('{"b": 1, "a": [1, 2.0]}', '{"a":[1,2],"b":1}'),
        ('{ "a" :\n1 }', '{"a":1}'),
        ('{"a": 1', '"{\\"a\\": 1"'),
        ("NaN", '"NaN"'),
        ('{"a": Infinity}', '"{\\"a\\": Infinity}"'),
        ('"\\u00e9"', '"é"'),
    ],
)
def test_arguments(text: str, canonical: str) -> None:
    assert canonical_arguments(text) == canonical


@given(VALUES, st.sampled_from([None, 1, 3]))
def test_arguments_in_any_layout_are_the_same(value: object, indent: int | None) -> None:
    spelled = json.dumps(turned_round(value), indent=indent, ensure_ascii=bool(indent))
    assert canonical_arguments(spelled) == canonical_json(value)


@pytest.mark.parametrize(
    "text", ["1" + "0" * 5000, "[" * 5000 + "]" * 5000, '"\\ud800"', "1e999", "\x00"]
)
def test_arguments_that_are_no_usable_json_are_text(text: str) -> None:
    """Whatever a model writes, reading it back never fails."""
    assert json.loads(canonical_arguments(text)) == text
