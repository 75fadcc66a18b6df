"""The load over time, and a run cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_loadtest.options import Settings
from halogen_loadtest.percentile import percentile
from halogen_loadtest.phases import SHAPES, Phase, phases, users_at
from halogen_loadtest.report.series import axis


@pytest.mark.parametrize(
    ("shape", "users"),
    [
        ("closed", [10, 10, 10, 10, 10]),
        ("soak", [10, 10, 10, 10, 10]),
        ("ramp", [1, 2, 5, 8, 10]),
        ("spike", [2, 2, 10, 2, 2]),
    ],
)
def test_users_over_time(shape: str, users: list[int]) -> None:
    settings = Settings(shape=shape)
    phase = Phase(True, 100.0)
    assert [users_at(settings, 10, phase, at) for at in (0, 25, 50, 75, 100)] == users


def test_every_shape_is_offered_and_has_users() -> None:
    for shape in SHAPES:
        assert users_at(Settings(shape=shape), 1, Phase(True, 9.0), 0.0) == 1


def test_phases_of_a_run() -> None:
    assert phases(Settings(), 30) == [Phase(True, 30)]
    assert phases(Settings(), None) == [Phase(True, 60)]
    assert phases(Settings(shape="soak"), None) == [Phase(True, 1200)]
    assert phases(Settings(compare=True), 30) == [Phase(True, 15), Phase(False, 15)]
    assert phases(Settings(iterations=2), None) == [Phase(True, None)]


@given(st.floats(0, 1e9), st.floats(0, 5000), st.floats(-10, 6000))
def test_every_moment_falls_into_a_piece(began: float, seconds: float, at: float) -> None:
    time = axis(began, began + seconds)
    assert 0 <= time.piece(began + at) < time.count <= 62
    assert time.seconds >= seconds - 1e-3


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_percentiles_were_measured(values: list[float], share: float) -> None:
    got = percentile(values, share)
    assert got is not None
    assert got in values
    assert sum(value <= got for value in values) >= share * len(values)


def test_percentiles_of_nothing_and_of_few() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.95) == 4.0
