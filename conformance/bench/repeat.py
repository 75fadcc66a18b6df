"""Does the suite say the same every time? Runs it again and again and compares the verdicts.

    python conformance/bench/repeat.py --runs 20
    python conformance/bench/repeat.py --runs 20 --workers 4 --shuffle -- my-server --port {port}

The server is the simulator unless another command is given. One line a run; the exit code is 0 when
every requirement had one verdict in all runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

_SIMULATOR = (sys.executable, "-m", "halogen_simulator", "serve", "--port", "{port}")
_PACE = ("--token-s", "0.001")

Verdicts = dict[str, str]
"""Requirement to its verdict."""


def run_once(server: Sequence[str], options: Sequence[str]) -> tuple[int, Verdicts]:
    """One run: the exit code and the verdicts. Raises OSError when there is no report."""
    with tempfile.TemporaryDirectory(prefix="halogen-repeat-") as folder:
        command = [sys.executable, "-m", "halogen_conformance.cli", "check", "--report", folder]
        done = subprocess.run(
            [*command, *options, "--", *server], stdout=subprocess.PIPE, text=True, check=False
        )
        results = json.loads((Path(folder) / "results.json").read_text("utf-8"))
    return done.returncode, {row["id"]: row["verdict"] for row in results["requirements"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1, help="tests at once (check -n)")
    parser.add_argument("--shuffle", action="store_true", help="another order each time")
    parser.add_argument("--fuzz", action="store_true", help="with the random requests")
    own, server = sys.argv[1:], [*_SIMULATOR, *_PACE]
    if "--" in own:
        cut = own.index("--")
        own, server = own[:cut], own[cut + 1 :]
    chosen = parser.parse_args(own)
    fixed = ["--deterministic", *([] if chosen.fuzz else ["--no-fuzz"])]
    if chosen.workers > 1:
        fixed += ["-n", str(chosen.workers)]

    seen: dict[str, Counter[str]] = {}
    codes: Counter[int] = Counter()
    for number in range(1, chosen.runs + 1):
        begin = time.monotonic()
        order = ["--shuffle", "--seed", str(number)] if chosen.shuffle else []
        code, verdicts = run_once(server, [*fixed, *order])
        codes[code] += 1
        for row, verdict in verdicts.items():
            seen.setdefault(row, Counter())[verdict] += 1
        count = ", ".join(f"{n} {word}" for word, n in Counter(verdicts.values()).items())
        took = time.monotonic() - begin
        print(f"run {number:2}: exit code {code}, {took:4.0f} s, {count}", flush=True)
    differing = {row: counts for row, counts in seen.items() if len(counts) > 1}
    for row, counts in differing.items():
        print(f"{row}: " + ", ".join(f"{n} times {word}" for word, n in counts.items()))
    same = not differing and len(codes) == 1
    print("The same every time." if same else f"{len(differing)} requirements differ.")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
