"""Requests a second: the simulator beside a bare Starlette route that returns the same body.

Both servers run on the same uvicorn, turn by turn, and one client asks over one connection for
answers as short as a test suite's. Requests a second are what that client saw, best round. Beside
them: requests for each second of processor time the server took, which is what one core would
answer to many clients. Linux only.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PATH = "/v1/chat/completions"
HISTORY = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is fog?"},
]
BODY = json.dumps({"model": "any", "messages": HISTORY, "temperature": 0, "max_tokens": 16})
HOME = Path(__file__).resolve().parents[2]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=3000, help="in each round (3000)")
    parser.add_argument("--rounds", type=int, default=3, help="of each server (3)")
    options = parser.parse_args()
    simulator = ["-m", "halogen_simulator", "serve", "--port", "0"]
    with server(*simulator) as sim:
        with connected(sim) as connection:
            answer = ask(connection)
        with server(str(Path(__file__).with_name("bare.py")), answer.decode()) as bare:
            rounds = [
                (rate(sim, options.requests), rate(bare, options.requests))
                for _ in range(options.rounds)
            ]
    print(f"{len(answer)} bytes an answer, best of {options.rounds} x {options.requests} requests")
    ours, theirs = (best(rates) for rates in zip(*rounds, strict=True))
    print(f"{'':22} {'a second':>10} {'a processor second':>20}")
    for name, one in (("simulator", ours), ("bare Starlette route", theirs)):
        print(f"{name:22} {one.wall:10.0f} {one.cpu:20.0f}")
    ratio = Rate(ours.wall / theirs.wall, ours.cpu / theirs.cpu)
    print(f"{'ratio (wanted: 0.5)':22} {ratio.wall:10.2f} {ratio.cpu:20.2f}")


class Rate(NamedTuple):
    """Requests for each second, and for each second of the server's processor time."""

    wall: float
    cpu: float


def best(rates: Iterable[Rate]) -> Rate:
    walls, cpus = zip(*rates, strict=True)
    return Rate(max(walls), max(cpus))


class Running(NamedTuple):
    """A server: its process, and its host and port."""

    pid: int
    address: str

    def cpu_s(self) -> float:
        """Processor seconds it has taken."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(*arguments: str) -> Iterator[Running]:
    """A server process, known by the line it prints."""
    parts = os.pathsep.join(str(HOME / part) for part in ("reference", "simulator"))
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": parts, "HALOGEN_FORK": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Running(process.pid, process.stdout.readline().split("http://")[1].strip())
    finally:
        process.terminate()
        process.wait()


@contextmanager
def connected(one: Running) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(one.address, timeout=30)
    try:
        yield connection
    finally:
        connection.close()


def ask(connection: http.client.HTTPConnection) -> bytes:
    connection.request("POST", PATH, BODY, {"content-type": "application/json"})
    return connection.getresponse().read()


def rate(one: Running, requests: int) -> Rate:
    """How fast it answers, after a few requests to warm up."""
    with connected(one) as connection:
        for _ in range(50):
            ask(connection)
        began, cpu = time.perf_counter(), one.cpu_s()
        for _ in range(requests):
            ask(connection)
        return Rate(requests / (time.perf_counter() - began), requests / (one.cpu_s() - cpu))


if __name__ == "__main__":
    main()
