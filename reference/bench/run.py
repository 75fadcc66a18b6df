"""Measure the fan-out from a kept conversation. Exit code: 0 however fast it was, 2 when something
could not be run."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

import httpx
from rich.console import Console
from rich.markup import escape

from bench import bookkeeping, ours, peer, plot, restart
from bench.report import Results, conditions, show
from bench.targets import targets
from bench.workload import Shape
from demo.process import ServerTrouble
from demo.progress import Steps, console


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = console()
    try:
        results = _measure(out, options)
    except (ServerTrouble, httpx.HTTPError) as error:
        out.print(f"[bold red]The benchmark cannot go on:[/] {escape(str(error))}")
        return 2
    except KeyboardInterrupt:
        out.print("Interrupted; the servers are stopped.")
        return 130
    show(out, results)
    if options.plot:
        plot.write(results, options.plot)
        out.print(f"The served fan-outs as a picture: {options.plot}", markup=False)
    if options.json:
        options.json.write_text(json.dumps(results.json(), indent=2), "utf-8")
        out.print(f"Written to {options.json}.", markup=False)
    return 0


def _options() -> argparse.Namespace:
    shape = Shape()
    parser = argparse.ArgumentParser("bench", description=__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=3, help="fresh servers to take the median of (%(default)s)")
    add("--clients", type=int, default=shape.clients, help="continuations at once (%(default)s)")
    add("--tokens", type=int, default=shape.tokens, help="tokens of each (%(default)s)")
    add(
        "--sentences",
        type=int,
        default=shape.sentences,
        help="sentences of the history, some 19 tokens each (%(default)s)",
    )
    names = [one.name for one in peer.PEERS]
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument(
        "--beside",
        action="append",
        choices=names,
        metavar="SERVER",
        help=f"measure this one beside, instead of all that can be had; of {', '.join(names)}",
    )
    beside.add_argument("--alone", action="store_true", help="measure no other server beside")
    add("--plot", type=Path, metavar="FILE.svg", help="draw the served fan-outs there")
    add("--json", type=Path, metavar="FILE", help="write every figure there too")
    options = parser.parse_args()
    for name, least in {"rounds": 1, "clients": 2, "tokens": 4, "sentences": 1}.items():
        if getattr(options, name) < least:
            parser.error(f"--{name} takes a number from {least}")
    return options


def _measure(out: Console, options: argparse.Namespace) -> Results:
    shape = Shape(options.clients, options.tokens, options.sentences)
    programs, absent = peer.choose([] if options.alone else options.beside, os.environ)
    for line in absent:
        out.print(line, markup=False)
    total = peer.STEPS * len(programs) + 1 + ours.STEPS * options.rounds + restart.STEPS
    found = conditions({name: program.version for name, program in programs.items()})
    with Steps(out, total) as steps:
        # The others first: what does not start shows at once, and not after all the rest.
        peers = {
            one.name: peer.measure(one, programs[one.name], shape, steps.begin)
            for one in peer.PEERS
            if one.name in programs
        }
        steps.begin("bookkeeping of the sessions")
        books = bookkeeping.measure()
        rounds = []
        for number in range(1, options.rounds + 1):
            steps.prefix = f"round {number} of {options.rounds}: "
            rounds.append(ours.measure(shape, steps.begin))
        steps.prefix = ""
        back = restart.measure(shape, steps.begin)
    return Results(shape, rounds, peers, books, targets(rounds, books, back, peers), found)


if __name__ == "__main__":
    sys.exit(main())
