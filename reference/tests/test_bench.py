"""`make bench`: that it measures everything, and how its figures are made."""

import json
from pathlib import Path

import pytest

from bench.bare import _common
from bench.fanout import decode_rate
from bench.workload import Shape, continuation, history
from tests.scripts import run


@pytest.mark.timeout(300)
def test_the_bench_measures_everything_and_never_fails_for_speed(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    sizes = ("--clients", "2", "--tokens", "6", "--sentences", "2")
    done = run("bench", "--rounds", "1", "--alone", *sizes, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text("utf-8"))
    (measured,) = figures["rounds"]
    fan_outs = measured["fan_outs"]
    assert list(fan_outs) == [
        "cold, different histories",
        "cold, the same history",
        "first after the keep",
        "again",
    ]
    assert fan_outs["first after the keep"]["outcomes"] == ["used"]
    assert fan_outs["cold, the same history"]["outcomes"] == []
    cells = measured["cells"]
    assert cells["used"] == cells["history"] + cells["own"]
    assert "load average" in figures["conditions"]
    for title in fan_outs:
        assert title in done.stdout


def test_the_decode_rate_counts_only_while_all_are_decoding() -> None:
    # Both decode from 2.0 to 4.0: two tokens of each come after 2.0.
    assert decode_rate([[0.0, 1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0, 6.0]]) == 2.0
    assert decode_rate([[0.0, 1.0], [2.0, 3.0]]) is None
    assert decode_rate([[0.0, 1.0], []]) is None


def test_the_bare_loop_leaves_each_prompt_a_token_of_its_own() -> None:
    assert _common([[1, 2, 3], [1, 2, 4]]) == 2
    assert _common([[1, 2], [1, 2, 4]]) == 1


def test_the_workload_shares_what_it_says_it_shares() -> None:
    shape = Shape()
    one, two = (continuation(history(shape), "Yes.", client) for client in (0, 1))
    assert one[:-1] == two[:-1]
    assert one[-1] != two[-1]
    assert history(shape, 1)[0]["content"][:9] != history(shape, 2)[0]["content"][:9]
