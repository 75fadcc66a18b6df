"""Reading JSON: strict types, and errors that name their field."""

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.dialects.fields import Fields, canonical_field, read_body
from halogen_reference.errors import RequestError
from tests.dialects.samples import json_values


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{} x",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_not_json_is_a_400(body: bytes) -> None:
    with pytest.raises(RequestError, match="not valid JSON") as caught:
        read_body(body)
    assert caught.value.status == 400


@pytest.mark.parametrize("body", ["[]", '"text"', "null", "7", "true"])
def test_the_top_level_is_an_object(body: str) -> None:
    with pytest.raises(RequestError, match="must be a JSON object"):
        read_body(body.encode())


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_a_400(body: bytes) -> None:
    with contextlib.suppress(RequestError):
        assert isinstance(read_body(body).data, dict)


READERS: dict[str, tuple[Callable[[Fields], object], list[object]]] = {
    "text": (lambda fields: fields.text("f"), ["", "x"]),
    "flag": (lambda fields: fields.flag("f"), [True, False]),
    "integer": (lambda fields: fields.integer("f", 1, 5), [1, 5, 2.0]),
    "number": (lambda fields: fields.number("f", 0, 2), [0, 2, 0.5]),
    "record": (lambda fields: fields.record("f"), [{}, {"a": 1}]),
    "records": (lambda fields: fields.records("f"), [[], [{}]]),
    "strings": (lambda fields: fields.strings("f", 2), [[], ["a", "b"]]),
    "one_of": (lambda fields: fields.one_of("f", ("x", "y")), ["x", "y"]),
}
WRONG: dict[str, list[object]] = {
    "text": [1, True, [], {}],
    "flag": ["true", 0, 1],
    "integer": ["1", True, 0, 6, 1.5, 1e300, 10**400, [], float("1e400")],
    "number": ["1", True, -0.1, 2.1, 10**400, {}, float("1e400")],
    "record": ["x", [], 1],
    "records": [{}, "x", [1], [{}, None], [[]]],
    "strings": ["x", {}, [1], [""], ["a", "b", "c"], [None]],
    "one_of": ["z", "", 1],
}


@pytest.mark.parametrize("reader", READERS)
def test_a_field_of_its_type_is_read(reader: str) -> None:
    read, good = READERS[reader]
    for value in good:
        assert read(Fields({"f": value})) is not None
    assert read(Fields({})) is None
    assert read(Fields({"f": None})) is None, "null is the same as absent"


@pytest.mark.parametrize(
    ("reader", "value"), [(reader, value) for reader in WRONG for value in WRONG[reader]]
)
def test_a_field_of_another_type_or_range_is_a_400_naming_it(reader: str, value: object) -> None:
    with pytest.raises(RequestError) as caught:
        READERS[reader][0](Fields({"f": value}, "outer[1]"))
    assert caught.value.status == 400
    assert caught.value.param and caught.value.param.startswith("outer[1].f")
    assert caught.value.param in caught.value.message


def test_a_required_field_is_named() -> None:
    fields = Fields({"empty": "", "none": [], "null": None})
    for read in (
        lambda: fields.need_text("gone"),
        lambda: fields.need_text("null"),
        lambda: fields.need_name("empty"),
        lambda: fields.need_integer("gone", 1),
        lambda: fields.need_record("gone"),
        lambda: fields.need_records("gone"),
        lambda: fields.need_records("none"),
        lambda: fields.need_one_of("gone", ("a",)),
    ):
        with pytest.raises(RequestError):
            read()


@given(json_values)
def test_key_order_and_spacing_do_not_change_a_canonical_value(value: object) -> None:
    shuffled = json.loads(json.dumps(_reversed_keys(value), indent=2))
    assert canonical_field(value, "f") == canonical_field(shuffled, "f")


def _reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: _reversed_keys(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_reversed_keys(item) for item in value]
    return value


def test_a_number_beyond_any_range_is_a_400() -> None:
    with pytest.raises(RequestError, match="out of range"):
        canonical_field(read_body(b'{"a": 1e999}').data, "f")
