"""Cost profiles: their arithmetic, and files that cannot be used."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from halogen_simulator.profile import Profile, ProfileError, dumps, load, loads, packaged

PROFILE = Profile("p", "", ((64, 400.0), (256, 1000.0)), 0.010, 0.002, 23_040)


def test_a_batch_costs_its_replies_and_its_chunk() -> None:
    assert PROFILE.decode_s(0) == 0
    assert PROFILE.decode_s(4) == pytest.approx(0.018)
    assert PROFILE.batch_s(4, reading=True) == pytest.approx(0.018 + 64 / 400)
    assert PROFILE.batch_s(0, reading=True) == pytest.approx(PROFILE.read_s(252))


@pytest.mark.parametrize(
    ("chunk", "speed"), [(1, 400), (64, 400), (160, 700), (256, 1000), (9999, 1000)]
)
def test_speed_between_and_beyond_the_measured_chunks(chunk: int, speed: float) -> None:
    assert PROFILE.read_s(chunk) == pytest.approx(chunk / speed)


def test_nothing_to_read_takes_no_time() -> None:
    assert PROFILE.read_s(0) == 0
    assert replace(PROFILE, prefill=()).read_s(1000) == 0


def test_a_profile_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text(dumps(PROFILE), "utf-8")
    assert load(str(file)) == PROFILE


@pytest.mark.parametrize("name", packaged())
def test_the_packaged_profiles_can_be_used(name: str) -> None:
    profile = load(name)
    assert profile.name == name and profile.about
    assert profile.instant == (name == "instant")


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(ProfileError, match=r"one of .*instant"):
        load("fastest")


@pytest.mark.parametrize(
    "change",
    [
        {"step_s": -1},
        {"step_s": "fast"},
        {"prefill": [[64, 0]]},
        {"prefill": [[256, 2], [64, 1]]},
        {"prefill": 5},
        {"chunk_beside": 0},
        {"speed": 1},
    ],
)
def test_a_file_that_is_no_profile_is_refused(change: dict[str, object]) -> None:
    text = json.dumps(json.loads(dumps(PROFILE)) | change)
    with pytest.raises(ProfileError, match=r"own\.json is not a cost profile"):
        loads(text, "own.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", "no"])
def test_a_text_that_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ProfileError, match="is not a cost profile"):
        loads(text, "file")
