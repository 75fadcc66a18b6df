"""`make bench`: that it measures everything, and how its figures are made."""

import json
from pathlib import Path

import pytest

from bench.bare import _common
from bench.fanout import decode_rate
from bench.workload import Shape, continuation, history
from tests import stand_in
from tests.scripts import run


@pytest.mark.timeout(300)
def test_the_bench_measures_everything_and_never_fails_for_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, _ = stand_in.write(tmp_path)
    monkeypatch.setenv("LLAMA_SERVER", str(program))
    file, picture = tmp_path / "figures.json", tmp_path / "report" / "fan-out.svg"
    sizes = ("--clients", "2", "--tokens", "6", "--sentences", "2")
    files = ("--json", str(file), "--plot", str(picture))
    done = run("bench", "--rounds", "1", "--beside", "llama-server", *sizes, *files)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text("utf-8"))
    (measured,) = figures["rounds"]
    fan_outs = measured["fan_outs"]
    assert list(fan_outs) == [
        "cold, different histories",
        "cold, the same history",
        "first after the keep",
        "again",
        "again, other messages",
    ]
    assert fan_outs["first after the keep"]["outcomes"] == ["used"]
    assert fan_outs["cold, the same history"]["outcomes"] == []
    cells = measured["cells"]
    assert cells["used"] == cells["history"] + cells["own"]
    assert "load average" in figures["conditions"]
    for title in fan_outs:
        assert title in done.stdout
    # The other server stands in the same table, is judged, and is named with its version.
    assert list(figures["peers"]) == ["llama-server"]
    assert figures["conditions"]["llama-server"] == "1 (stand-in)"
    assert sum("of llama-server's" in target["text"] for target in figures["targets"]) == 5
    rows = [[cell.strip() for cell in line.split("│")] for line in done.stdout.splitlines()]
    of_fan_outs = [row for row in rows if len(row) == 10 and row[1] == "llama-server"]
    assert [row[2] for row in of_fan_outs] == list(fan_outs)[1:]
    assert "llama-server" in picture.read_text("utf-8")
    assert str(picture) in done.stdout


def test_a_server_that_cannot_be_run_is_told_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLAMA_SERVER", "nowhere/llama-server")
    done = run("bench")
    assert done.returncode == 2
    assert done.stdout.startswith("The benchmark cannot go on: LLAMA_SERVER: nowhere/llama-server ")
    assert "(1/" not in done.stdout.replace(" ", "")


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
