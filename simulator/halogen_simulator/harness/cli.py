"""``halogen-simulator harness``: the agent program at a prompt or from a script; its scenarios."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.connection import Limits, Origin
from halogen_conformance.drivers.driver import Header, Options
from halogen_simulator.harness.command import listed
from halogen_simulator.harness.lineage import Knot
from halogen_simulator.harness.program import Program
from halogen_simulator.harness.scenarios.run import CannotPlay, Played, Plays
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.table import SCENARIOS
from halogen_simulator.harness.shell import Shell
from halogen_simulator.harness.store import Store
from halogen_simulator.harness.tools import Toolbox, ToolsError, built_in, merged, scripted
from halogen_simulator.harness.transcript import TranscriptError
from halogen_simulator.values import (
    EXIT_CODES,
    KEY_HELP,
    TARGET_LOST,
    USAGE,
    at_least_one,
    some_seconds,
)

ABOUT = """An agent program for any server: sessions that keep their state under a name and fork
from it. Lines come from a script, or from you at a prompt; a line that is no command is
said to the model."""
_SCENARIO = """Play fork and join patterns that check themselves: every request but the first must
be answered from its kept state and cost its new text only, and siblings must not see
each other."""

PROMPT = "> "
FOLDER = Path(".halogen-sessions")

_ALL = "all"
_REPLY_TOKENS, _SCENARIO_TOKENS = 256, 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options, and the sub-command that plays scenarios."""
    parser.description, parser.epilog = ABOUT, f"commands:\n{listed()}\n\n{EXIT_CODES}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    _server_options(parser, default=True)
    add = parser.add_argument
    add("--script", metavar="FILE", help="lines to do instead of a prompt; - is the input")
    add("--resume", metavar="FILE|ID", help="go on with a session")
    add("--sessions", type=Path, default=FOLDER, metavar="DIR", help=f"transcripts ({FOLDER})")
    add("--system", default="", metavar="TEXT", help="instructions for the model")
    add("--read", type=Path, metavar="DIR", help="offer read_file for the files below DIR")
    add("--tools", type=Path, metavar="FILE", help="scripted tools (YAML or JSON)")
    add("--no-tools", action="store_true", help="offer no tools at all")
    add("--most-rounds", type=at_least_one, default=8, metavar="N", help="requests in one turn (8)")
    _tree_options(parser, default=True)
    parser.set_defaults(harness=_shell)
    what = parser.add_subparsers(metavar="[scenario]", title="instead of sessions")
    scenario = what.add_parser(
        "scenario",
        help="play fork and join patterns",
        description=_SCENARIO,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _scenario_options(scenario)


def run(options: argparse.Namespace) -> int:
    """Do what the arguments say. Returns the exit code, one of :data:`values.EXIT_CODES`."""
    try:
        Origin.parse(options.base_url)
        code: int = options.harness(options)
        return code
    except BrokenPipeError:
        raise  # nothing is wrong: the reader has left
    except (ValueError, OSError, ToolsError, TranscriptError, CannotPlay) as error:
        print(f"halogen-simulator harness: {error}", file=sys.stderr)
        return error.code if isinstance(error, CannotPlay) else USAGE
    except KeyboardInterrupt:
        print("interrupted; what was said is in the transcripts", file=sys.stderr)
        return 130


def _server_options(parser: argparse.ArgumentParser, *, default: bool) -> None:
    """Options of both forms. A sub-parser must not set their defaults over what was given."""

    def add(name: str, fallback: object, **rest: object) -> None:
        parser.add_argument(name, default=fallback if default else argparse.SUPPRESS, **rest)  # type: ignore[arg-type]

    add(
        "--base-url",
        "http://127.0.0.1:8731",
        metavar="URL",
        help="the server (http://127.0.0.1:8731)",
    )
    routes = [*DRIVERS, _ALL]
    add("--route", None, choices=routes, help="the API to use (messages; for scenarios all)")
    add("--key", None, metavar="KEY", help=KEY_HELP)
    add("--model", None, metavar="NAME", help='the model to ask for ("default")')
    add(
        "--max-tokens",
        None,
        type=at_least_one,
        metavar="N",
        help="the longest reply (256; in scenarios 24)",
    )
    add("--temperature", 0.0, type=float, metavar="T", help="0 is the same every time (0)")
    add(
        "--timeout",
        120.0,
        type=some_seconds,
        metavar="S",
        help="seconds of the server's longest silence (120)",
    )


def _tree_options(parser: argparse.ArgumentParser, *, default: bool) -> None:
    def add(name: str, fallback: object, **rest: object) -> None:
        parser.add_argument(name, default=fallback if default else argparse.SUPPRESS, **rest)  # type: ignore[arg-type]

    add("--tree", False, action="store_true", help="at the end, draw the forks as a tree")
    add("--tree-svg", None, type=Path, metavar="FILE", help="the same as a picture")


def _scenario_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = "; ".join(f"{one.name}: {one.about}" for one in SCENARIOS.values())
    add("scenario", choices=[*SCENARIOS, _ALL], help=about)
    _server_options(parser, default=False)
    add(
        "--workers",
        type=at_least_one,
        default=4,
        metavar="N",
        help="workers, candidates, reviewers (4)",
    )
    add("--depth", type=at_least_one, default=3, metavar="N", help="levels of the tree (3)")
    add("--breadth", type=at_least_one, default=2, metavar="N", help="children of each node (2)")
    add(
        "--handles",
        type=at_least_one,
        metavar="N",
        help="names the server holds, if it does not tell",
    )
    add(
        "--not-deterministic",
        action="store_true",
        help="the server may answer one request in two ways: compare no texts",
    )
    _tree_options(parser, default=False)
    parser.set_defaults(harness=_scenarios)


def _client(options: argparse.Namespace) -> Client:
    silence = options.timeout
    limits = Limits(connect_s=min(10.0, silence), idle_s=silence, total_s=10 * silence)
    headers: tuple[Header, ...] = ()
    key = options.key or os.environ.get("HALOGEN_API_KEY") or None
    return Client(options.base_url, key, limits=limits, headers=headers, model=options.model)


def _options(options: argparse.Namespace, most: int) -> Options:
    return Options(
        max_tokens=options.max_tokens or most, temperature=options.temperature, stream=True
    )


def _toolbox(options: argparse.Namespace) -> Toolbox:
    if options.no_tools:
        return Toolbox()
    own = [scripted(options.tools)] if options.tools else []
    return merged([built_in(options.read), *own])


def _shell(options: argparse.Namespace) -> int:
    if options.route == _ALL:
        raise ValueError("a session uses one route: --route all is for scenarios")
    program = Program(
        _client(options),
        DRIVERS[options.route or "messages"],
        _options(options, _REPLY_TOKENS),
        _toolbox(options),
        options.system,
        options.most_rounds,
    )
    person = options.script is None and sys.stdin.isatty()
    shell = Shell(program, Store(options.sessions), sys.stdout, echo=not person)
    shell.begin(options.resume)
    shell.run(_typed() if person else _lines(options.script))
    _draw(options, shell.knots() if options.tree or options.tree_svg else [], "sessions")
    if shell.no_server:
        return TARGET_LOST
    return 1 if shell.failures else 0


def _typed() -> Iterator[str]:
    """What a person types, up to the end of the input or an interrupt."""
    import readline  # noqa: F401  # gives input() its line editing

    while True:
        try:
            yield input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            print()
            return


def _lines(script: str | None) -> Iterator[str]:
    if script in (None, "-"):
        yield from sys.stdin
    else:
        yield from Path(script or "").read_text("utf-8").splitlines()


def _scenarios(options: argparse.Namespace) -> int:
    plays = Plays(
        _client(options),
        list(SCENARIOS) if options.scenario == _ALL else [options.scenario],
        list(DRIVERS) if options.route in (None, _ALL) else [options.route],
        _options(options, _SCENARIO_TOKENS),
        Size(options.workers, options.depth, options.breadth),
        options.handles,
        not options.not_deterministic,
    )
    played = []
    for one in plays.run():
        played.append(one)
        print(one.line(), flush=True)
        for deviation in one.deviations:
            print(f"! {deviation}", flush=True)
        if options.tree:
            _draw(options, one.knots(), one.title, picture=False)
    if options.tree_svg:
        _draw(options, _together(played), "scenarios", text=False)
    if played and all(one.sessions_off for one in played):
        print("! no answer has X-Halogen-From: are sessions on (HALOGEN_FORK=1)?")
    return 1 if any(one.deviations for one in played) else 0


def _together(played: Sequence[Played]) -> list[Knot]:
    """The trees of several scenarios as one, each below a knot of its own."""
    found = []
    for one in played:
        found.append(Knot(one.title, None, one.title))
        for knot in one.knots():
            parent = f"{one.title}/{knot.parent}" if knot.parent else one.title
            key = f"{one.title}/{knot.key}"
            counts = knot.evaluated, knot.reused, knot.requests
            found.append(Knot(key, parent, knot.title, *counts, knot.note))
    return found


def _draw(
    options: argparse.Namespace,
    knots: Sequence[Knot],
    title: str,
    *,
    text: bool = True,
    picture: bool = True,
) -> None:
    from halogen_simulator.harness import tree  # rich is slow to import

    drawing = tree.drawn(knots)
    if options.tree and text:
        tree.show(drawing, sys.stdout)
    if options.tree_svg and picture:
        tree.write_svg(drawing, options.tree_svg, title)
