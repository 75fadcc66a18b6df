"""Long runs (`make soak`): memory and KV cells stay flat, and so does the time to the first token.

HALOGEN_SOAK_S sets another length than twenty minutes.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil
import pytest

from halogen_loadtest.percentile import percentile
from tests.launched import ENVIRONMENT, load

SECONDS = float(os.environ.get("HALOGEN_SOAK_S", "1200"))
WARM_UP = 0.25
"""Share of the run whose figures are not compared: caches fill, pages are touched once."""


@contextmanager
def reference() -> Iterator[tuple[str, psutil.Process]]:
    """The reference with its packaged model on a free port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "halogen_reference", "--port", "0"],
        env={**ENVIRONMENT, "HALOGEN_FORK": "1", "HALOGEN_CTX": "4096"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "http://127.0.0.1:" in line:
                port = line.rpartition("http://127.0.0.1:")[2].split()[0].strip("/")
                break
        else:
            raise AssertionError("the reference has not started")
        reading = threading.Thread(target=process.stdout.read)
        reading.start()
        yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
        process.terminate()
        reading.join(60)
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


@contextmanager
def memory_of(process: psutil.Process) -> Iterator[list[int]]:
    """Resident bytes, sampled for as long as the block runs."""
    samples: list[int] = []
    over = threading.Event()

    def sample() -> None:
        while not over.wait(1.0):
            samples.append(process.memory_info().rss)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()


def thirds(values: list[float]) -> tuple[float, float]:
    """The medians of the first and the last third after the warm-up."""
    settled = values[int(len(values) * WARM_UP) :]
    third = max(1, len(settled) // 3)
    return median(settled[:third]), median(settled[-third:])


@pytest.mark.soak
@pytest.mark.timeout(int(SECONDS) + 300)
def test_the_reference_for_a_long_time(tmp_path: Path) -> None:
    with reference() as (url, process), memory_of(process) as memory:
        words = ("--shape=soak", f"--run-time={int(SECONDS)}", "--users=2", "--forks=4")
        done = load(
            tmp_path, url, *words, "--history-tokens=300", "--twins=0.02", timeout_s=SECONDS + 200
        )
    assert done.code == 0, done.text
    before, after = thirds([float(one) for one in memory])
    print(f"memory {before / 2**20:.0f} MiB, then {after / 2**20:.0f} MiB")
    assert after < 1.05 * before + 16 * 2**20
    cells = [one["gauges"]["halogen_kv_cells_used"] for one in done.results["server"]]
    first_cells, last_cells = thirds(cells)
    rows = csv.DictReader((tmp_path / "exchanges.csv").read_text("utf-8").splitlines())
    waits = [
        float(row["first"])
        for row in rows
        if row["first"] and row["step"] == "fork" and row["twin"] == "False"
    ]
    settled = waits[int(len(waits) * WARM_UP) :]
    early, late = settled[: len(settled) // 3], settled[-(len(settled) // 3) :]
    quick, slow = percentile(early, 0.95), percentile(late, 0.95)
    assert quick is not None and slow is not None
    print(f"TTFT p95 {quick:.2f} s, then {slow:.2f} s")
    print(f"KV cells {first_cells:.0f}, then {last_cells:.0f}")
    if SECONDS >= 600:  # a short run is over before all names have been kept once
        assert slow < 1.5 * quick + 0.5
        assert last_cells < 1.25 * first_cells + 256
