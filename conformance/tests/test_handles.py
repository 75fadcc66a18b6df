"""The list of names is read whatever its shape is."""

from typing import Any

import pytest

from halogen_conformance.drivers.handles import Handles
from halogen_conformance.schema import validate

OURS = {
    "object": "list",
    "data": [
        {
            "name": "a",
            "tokens": 1,
            "bytes": 2,
            "parent": None,
            "source": "chat",
            "created_at": 1.0,
            "last_used_at": 1.0,
            "expires_at": 2.0,
            "on_disk": False,
        }
    ],
    "max_handles": 8,
    "ttl_s": 600,
}


@pytest.mark.parametrize(
    "body",
    [
        OURS,
        ["a"],
        {"handles": ["a"]},
        {"handles": {"a": {"tokens": 1}}},
        {"data": [{"handle": "a"}]},
        [{"id": "a"}],
    ],
)
def test_names_are_found_in_every_usual_shape(body: Any) -> None:
    handles = Handles(body)
    assert (handles.names, handles.count) == (["a"], 1)
    assert handles.has("a")
    assert not handles.has("list")


@pytest.mark.parametrize(
    "body", [{"live": {"deep": [{"n": "a"}]}}, {"a": 1}, {"data": [{"x": "a"}]}]
)
def test_an_unknown_shape_is_searched_for_the_name(body: Any) -> None:
    handles = Handles(body)
    assert (handles.names, handles.count) == (None, None)
    assert handles.has("a")
    assert not handles.has("b")


def test_rows_and_our_own_shape() -> None:
    row = Handles(OURS).row("a")
    assert row is not None
    assert row["source"] == "chat"
    assert Handles(OURS).row("b") is None
    assert validate("HandleList", OURS, "body") == []
    assert validate("HandleList", OURS | {"ttl_s": None}, "body")
