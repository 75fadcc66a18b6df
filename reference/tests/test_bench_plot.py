"""The picture that `make bench` draws: what stands in it, and how long its bars are."""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.bare import Bare
from bench.bookkeeping import Bookkeeping
from bench.fanout import FanOut
from bench.ours import AGAIN, COLD_DIFFERENT, COLD_SAME, FAN_OUTS, FIRST, OTHER, Cells, Round
from bench.plot import write
from bench.report import Results
from bench.workload import Shape

SVG = "{http://www.w3.org/2000/svg}"
OURS = {COLD_DIFFERENT: 33.0, COLD_SAME: 7.25, FIRST: 1.0, AGAIN: 1.5, OTHER: 1.25}
THEIRS = {COLD_SAME: 20.0, FIRST: 16.0, AGAIN: 0.5, OTHER: 2.0}


def _fan_out(seconds: float) -> FanOut:
    return FanOut(seconds, seconds, 2 * seconds, None, None, None, 0, ())


def _results(peers: Mapping[str, Mapping[str, float]], rounds: int = 3) -> Results:
    ours = {title: _fan_out(seconds) for title, seconds in OURS.items()}
    slow = {title: _fan_out(100 * seconds) for title, seconds in OURS.items()}
    bare = Bare(1, 1, 1, 1, 1)
    runs = [Round(ours, Cells(1, 1115, 0), bare)] * (rounds - rounds // 3)
    runs += [Round(slow, Cells(1, 1115, 0), bare)] * (rounds // 3)
    others = {
        name: {title: _fan_out(seconds) for title, seconds in measured.items()}
        for name, measured in peers.items()
    }
    known = {"model": "some-model", "cores": "2", "threads": "1"}
    return Results(Shape(), runs, others, Bookkeeping({}), [], known)


def _texts(file: Path) -> list[str]:
    tree = ElementTree.parse(file)
    return ["".join(one.itertext()).strip() for one in tree.iter(f"{SVG}text")]


def _bars(file: Path, colour: str) -> list[float]:
    """How long the bars of this colour are, in the order they were drawn."""
    found = []
    for path in ElementTree.parse(file).iter(f"{SVG}path"):
        if f"fill: {colour}" in path.get("style", ""):
            xs = [float(x) for x in re.findall(r"[ML] (\S+) \S+", path.get("d", ""))]
            found.append(max(xs) - min(xs))
    return found


def test_the_picture_tells_what_was_measured_and_how(tmp_path: Path) -> None:
    file = tmp_path / "made" / "fan-out.svg"
    write(_results({"llama-server": THEIRS, "llama_cpp.server": THEIRS}), file)
    texts = _texts(file)
    assert "8 continuations at once of a conversation of 1,115 tokens, 32 tokens each" in texts
    conditions = "some-model on 2 cores, 1 thread; reference: median of 3 fresh servers; "
    assert f"{conditions}less is better" in texts
    assert "Time to the first token, median of the 8" in texts
    assert "Time until all 8 are answered" in texts
    assert texts.count("seconds") == 2
    # Only what every server was given is shown, with a row for each of them.
    headings = [
        title for title in FAN_OUTS if any(t.lower().startswith(title + ":") for t in texts)
    ]
    assert headings == [COLD_SAME, FIRST, AGAIN, OTHER]
    for server in ("reference", "llama-server", "llama_cpp.server"):
        assert texts.count(server) == 4
    for label in ("7.25 s", "14.5 s", "1.50 s", "20.0 s", "40.0 s", "0.50 s"):
        assert label in texts


def test_bars_are_as_long_as_they_say(tmp_path: Path) -> None:
    file = tmp_path / "fan-out.svg"
    write(_results({"llama-server": THEIRS}), file)
    ours, theirs = _bars(file, "#1f6fb4"), _bars(file, "#c8803c")
    seconds = [OURS[title] for title in THEIRS]
    # One axis from zero for both, in each of the two panels.
    scale = ours[0] / seconds[0]
    assert ours[:4] == pytest.approx([scale * one for one in seconds], rel=0.01)
    assert theirs[:4] == pytest.approx([scale * one for one in THEIRS.values()], rel=0.01)
    assert len(ours) == len(theirs) == 8


def test_alone_every_fan_out_of_ours_is_shown_and_the_same_figures_give_the_same_file(
    tmp_path: Path,
) -> None:
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    for file in (one, two):
        write(_results({}, rounds=1), file)
    assert one.read_bytes() == two.read_bytes()
    texts = _texts(one)
    assert texts.count("reference") == len(FAN_OUTS)
    assert "some-model on 2 cores, 1 thread; less is better" in texts
