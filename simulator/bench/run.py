"""Requests a second: the simulator beside a bare Starlette route that returns the same body.

Both servers run on the same uvicorn, turn by turn. A server's figure is requests for each second of
processor time it took, best round: what one core would answer, however busy the machine and its
client are. Linux only.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PATH = "/v1/chat/completions"
HISTORY = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is fog?"},
]
BODY = json.dumps({"model": "any", "messages": HISTORY, "temperature": 0, "max_tokens": 32})
HOME = Path(__file__).resolve().parents[2]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000, help="in each round (1000)")
    parser.add_argument("--rounds", type=int, default=3, help="of each server (3)")
    options = parser.parse_args()
    simulator = ["-m", "halogen_simulator", "serve", "--port", "0"]
    with server(*simulator) as sim:
        with connected(sim) as connection:
            answer = ask(connection)
        with server(str(Path(__file__).with_name("bare.py")), answer.decode()) as bare:
            rates: dict[str, list[float]] = {"simulator": [], "bare Starlette route": []}
            for _ in range(options.rounds):
                for seen, one in zip(rates.values(), (sim, bare), strict=True):
                    seen.append(rate(one, options.requests))
    best = {name: max(seen) for name, seen in rates.items()}
    print(f"{len(answer)} bytes an answer, best of {options.rounds} x {options.requests} requests")
    for name, figure in best.items():
        print(f"{name:22} {figure:8.0f} requests per processor second")
    print(f"{'ratio':22} {best['simulator'] / best['bare Starlette route']:8.2f} (wanted: 0.5)")


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


def rate(one: Running, requests: int) -> float:
    """Requests for each processor second of the server, after a few to warm up."""
    with connected(one) as connection:
        for _ in range(50):
            ask(connection)
        began = one.cpu_s()
        for _ in range(requests):
            ask(connection)
        return requests / (one.cpu_s() - began)


if __name__ == "__main__":
    main()
