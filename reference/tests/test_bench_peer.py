"""The servers that `make bench` measures beside ours: found, started, given the same, judged."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from bench import peer
from bench.bare import Bare
from bench.fanout import FanOut
from bench.ours import AGAIN, COLD_DIFFERENT, COLD_SAME, FIRST, OTHER, Cells, Round
from bench.targets import Target, beside
from bench.workload import Shape
from demo.process import ServerTrouble
from halogen_reference.settings import packaged_model
from tests import stand_in

LLAMA_SERVER, LLAMA_CPP_SERVER = peer.PEERS
NAMED = peer.Program(("some-server",), "1")


def _command(one: peer.Peer, shape: Shape) -> dict[str, str]:
    words = peer.command(one, NAMED, shape, 8123)
    assert words[0] == "some-server"
    return {
        word: "" if after.startswith("--") else after
        for word, after in pairwise([*words[1:], "--"])
        if word.startswith("--")
    }


@pytest.fixture
def shape() -> Shape:
    return Shape(clients=3, tokens=4, sentences=2)


@pytest.fixture(autouse=True)
def _threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOGEN_THREADS", "2")
    monkeypatch.delenv(peer.VARIABLE, raising=False)


def test_llama_server_gets_a_slot_a_branch_over_one_cache_that_holds_them_all(shape: Shape) -> None:
    assert _command(LLAMA_SERVER, shape) == {
        "--model": str(packaged_model()),
        "--host": "127.0.0.1",
        "--port": "8123",
        "--threads": "2",
        "--threads-batch": "2",
        "--ctx-size": str(shape.cells()),
        "--parallel": "3",
        "--kv-unified": "",
    }
    assert shape.cells() >= shape.clients * shape.context


def test_llama_cpp_server_keeps_what_it_read_and_is_not_interrupted(shape: Shape) -> None:
    assert _command(LLAMA_CPP_SERVER, shape) == {
        "--model": str(packaged_model()),
        "--host": "127.0.0.1",
        "--port": "8123",
        "--n_threads": "2",
        "--n_threads_batch": "2",
        "--n_ctx": str(shape.context),
        "--cache": "true",
        "--interrupt_requests": "false",
    }


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        (None, 0, "is not there"),
        ("no program", 0o644, "is not a program that can be run"),
        ("\x00\x01", 0o755, "cannot be run"),
        ("#!/bin/sh\necho no such library >&2; exit 127\n", 0o755, "127 and says: no such library"),
        ("#!/bin/sh\necho some other program\n", 0o755, "code 0 and says: some other program"),
        ("#!/bin/sh\n", 0o755, "says: nothing"),
    ],
)
def test_a_path_that_cannot_be_run_is_one_line_that_says_what_to_do(
    tmp_path: Path, text: str | None, mode: int, says: str
) -> None:
    path = tmp_path / "llama-server"
    if text is not None:
        path.write_text(text, "utf-8")
        path.chmod(mode)
    with pytest.raises(ServerTrouble) as trouble:
        peer.choose(None, {peer.VARIABLE: str(path)})
    line = str(trouble.value)
    assert line.startswith(f"LLAMA_SERVER: {path} " if "says" not in says else "LLAMA_SERVER: `")
    assert says in line
    assert line.endswith("or unset LLAMA_SERVER.")
    assert "\n" not in line


def test_a_server_that_nobody_set_up_is_one_line_and_trouble_where_it_was_asked_for() -> None:
    found, absent = peer.choose(None, {})
    assert "llama-server" not in found
    assert absent == [
        "llama-server is not measured beside: "
        "set LLAMA_SERVER to the path of llama.cpp's server program."
    ]
    with pytest.raises(ServerTrouble, match="llama-server cannot be measured beside: set LLAMA_"):
        peer.choose(["llama-server"], {})
    assert peer.choose([], {peer.VARIABLE: "nowhere"}) == ({}, [])


def test_a_peer_is_given_the_same_fan_outs_without_any_header_of_ours(
    tmp_path: Path, shape: Shape
) -> None:
    program, seen = stand_in.write(tmp_path)
    found, _ = peer.choose(["llama-server"], {peer.VARIABLE: str(program)})
    assert found == {"llama-server": peer.Program((str(program),), "1 (stand-in)")}
    told: list[str] = []

    measured = peer.measure(LLAMA_SERVER, found["llama-server"], shape, told.append)

    assert list(measured) == [COLD_SAME, FIRST, AGAIN, OTHER]
    assert told == ["llama-server: start", *(f"llama-server: {title}" for title in measured)]
    assert len(told) == peer.STEPS
    assert all(one.short == 0 and one.evaluated == 9 * 3 for one in measured.values())
    start, _, *asked = map(json.loads, seen.read_text("utf-8").splitlines())
    assert "--kv-unified" in start["argv"]
    assert not any(name.startswith("x-halogen") for one in asked for name in one["headers"])
    # Three cold ones, the one that reads the history, then three times three that repeat it.
    texts = [[message["content"] for message in one["messages"]] for one in asked]
    cold, opening, first, again, other = texts[:3], texts[3], texts[4:7], texts[7:10], texts[10:]
    assert len({text[0] for text in cold}) == 1
    assert cold[0][0] != opening[0]
    assert {tuple(text[:2]) for text in first + again + other} == {
        (*opening, "word " * shape.reply)
    }
    assert sorted(first) == sorted(again)
    assert not {text[-1] for text in first} & {text[-1] for text in other}
    assert len({text[-1] for text in first}) == len({text[-1] for text in other}) == 3


def _fan_out(seconds: float) -> FanOut:
    return FanOut(seconds, seconds, 2 * seconds, None, None, None, 0, ())


def _round(first: float, again: float = 1.0) -> Round:
    seconds = {COLD_DIFFERENT: 99.0, COLD_SAME: 8.0, FIRST: first, AGAIN: again, OTHER: 1.0}
    fan_outs = {title: _fan_out(value) for title, value in seconds.items()}
    return Round(fan_outs, Cells(1, 1, 0), Bare(1, 1, 1, 1, 1))


def _judged(rounds: list[Round], **theirs: float) -> dict[str, Target]:
    seconds = {COLD_SAME: 8.0, FIRST: 30.0, AGAIN: 1.0, OTHER: 1.0, **theirs}
    peers = {"llama-server": {title: _fan_out(value) for title, value in seconds.items()}}
    return {target.text: target for target in beside(rounds, peers)}


TTFT_FIRST = "TTFT p50, first after the keep: of llama-server's best, first or warm"
WALL_FIRST = "wall, first after the keep: of llama-server's best, first or warm"
TTFT_AGAIN = "TTFT p50, again: of llama-server's"
WALL_COLD = "wall, cold, the same history: of llama-server's"


def test_our_first_fan_out_is_judged_by_what_the_other_reaches_once_it_is_warm() -> None:
    met = _judged([_round(1.0)])
    assert all(target.met for target in met.values())
    assert met[TTFT_FIRST].measured == "1.00 x; 1.00 s, 1.00 s"
    assert met[WALL_FIRST].measured == "1.00 x; 2.00 s, 2.00 s"
    missed = _judged([_round(1.5)])
    assert missed[TTFT_FIRST].met is False
    assert missed[WALL_FIRST].met is False
    assert missed[TTFT_FIRST].measured == "1.50 x; 1.50 s, 1.00 s"
    assert missed[TTFT_AGAIN].met is True


def test_the_same_again_and_a_cold_history_are_judged_by_the_same_of_the_other() -> None:
    assert _judged([_round(1.0, again=1.1)])[TTFT_AGAIN].met is False
    assert _judged([_round(1.0)], **{COLD_SAME: 7.9})[WALL_COLD].met is False
    # What the other reaches cold does not count for it once it is warm.
    assert _judged([_round(1.0)], **{COLD_SAME: 0.5})[TTFT_FIRST].met is True


def test_the_median_of_the_rounds_is_judged_and_their_spread_shown() -> None:
    target = _judged([_round(0.9), _round(5.0), _round(0.8)])[TTFT_FIRST]
    assert target.met is True
    assert target.measured == "0.90 x (0.80 to 5.00); 0.90 s, 1.00 s"
    assert _judged([_round(0.8), _round(1.5), _round(1.6)])[TTFT_FIRST].met is False
