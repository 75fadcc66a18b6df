"""``halogen-simulator``: serve the sessions protocol without a model, list faults, run fleets,
play agents' traffic."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import shtab

from halogen_reference import __version__
from halogen_reference.command import EXIT_CODES as SERVERS_EXIT_CODES
from halogen_reference.command import port
from halogen_simulator import profile
from halogen_simulator.state import BYTES_PER_TOKEN
from halogen_simulator.traffic import command as traffic
from halogen_simulator.values import EXIT_CODES, at_least_one, seconds, while_read, wrong

if TYPE_CHECKING:
    from halogen_simulator.pace import Pace

_ABOUT = """The sessions protocol (keep, fork and join) without a model: for tests and for sizing.
Each command has its own --help."""
_SERVE = """Serve the reference server's routes on a simulated model that answers at once.
Everything else is set by the reference's environment variables (HALOGEN_FORK=1 turns the
protocol on)."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command. Returns the exit code: 2 for a wrong argument or setting."""
    given = sys.argv[1:] if arguments is None else arguments
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "halogen-simulator", description=_ABOUT, epilog=EXIT_CODES, formatter_class=raw
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    shtab.add_argument_to(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser(
        "serve",
        help="start a server",
        description=_SERVE,
        epilog=SERVERS_EXIT_CODES,
        formatter_class=raw,
    )
    _serve_arguments(serve)
    about = (
        "List the mistakes a server can be told to make (serve --fault ID), and what each breaks."
    )
    faults = commands.add_parser(
        "faults", help="list the mistakes a server can be told to make", description=about
    )
    faults.add_argument("--json", action="store_true", help="as JSON, for programs")
    faults.set_defaults(run=_faults)
    fleet = commands.add_parser("fleet", help="simulate many agents on one or many servers")
    # The fleet's libraries take longer to load than the server takes to start.
    completing = "--print-completion" in given
    if given[:1] == ["fleet"] or completing:
        command = import_module("halogen_simulator.fleet.command")
        command.add_arguments(fleet)
        fleet.set_defaults(run=command.run)
    for name, (about, add) in traffic.COMMANDS.items():
        add(commands.add_parser(name, help=about))
    harness = commands.add_parser("harness", help="talk to any server as an agent program does")
    if given[:1] == ["harness"] or completing:
        command = import_module("halogen_simulator.harness.cli")
        command.add_arguments(harness)
        harness.set_defaults(run=command.run)
    options = parser.parse_args(given)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return while_read(lambda: run(options))
    except KeyboardInterrupt:
        print("halogen-simulator: interrupted", file=sys.stderr)
        return 130


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--port",
        type=port,
        metavar="N",
        help="the port to listen on; 0: a free one (8731, or HALOGEN_API_PORT)",
    )
    add("--seed", type=int, default=0, metavar="N", help="another seed is another model (0)")
    add("--reply-words", type=at_least_one, default=24, metavar="N", help="words in a reply (24)")
    add("--reasoning", action="store_true", help="open every reply with a reasoning block")
    add("--script", type=Path, metavar="FILE", help="what to answer to which turn (YAML or JSON)")
    add("--fault", metavar="ID", help="make one mistake on purpose; 'faults' lists them")
    add("--test-controls", action="store_true", help="offer POST /simulator/clock and the like")
    add("--slots", type=at_least_one, metavar="N", help="replies at once (8, or HALOGEN_KV_SLOTS)")
    profiles = ", ".join(profile.packaged())
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        "--profile",
        metavar="NAME|FILE",
        help=f"what the server costs: a JSON file, or one of {profiles} (none)",
    )
    pace.add_argument("--token-s", type=seconds, metavar="S", help="seconds for every token (0)")
    parser.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    # Imported late, so that --help and faults answer at once.
    from halogen_reference import settings as reading
    from halogen_reference.serving import listen, serve
    from halogen_reference.settings import SettingError
    from halogen_simulator.assembly import assemble
    from halogen_simulator.engine import Character
    from halogen_simulator.faults.table import FAULTS
    from halogen_simulator.script import Script, ScriptError, load

    fault = FAULTS.get(options.fault) if options.fault else None
    if options.fault and fault is None:
        return wrong(f"there is no fault {options.fault!r}; 'halogen-simulator faults' lists them")
    try:
        chosen = reading.read()
        if options.slots:  # a simulated machine may be larger than any real one
            chosen = replace(chosen, slots=options.slots)
        character = Character(
            seed=options.seed,
            reply_words=options.reply_words,
            reasoning=options.reasoning,
            script=load(options.script) if options.script else Script(),
            pace=_pace(options),
        )
        controls = options.test_controls
        simulator = assemble(chosen, character, fault=fault, test_controls=controls)
        listener = listen(chosen.host, chosen.port if options.port is None else options.port)
    except (SettingError, ScriptError, profile.ProfileError) as error:
        return wrong(str(error))
    serve(simulator.app, listener, "halogen-simulator:")
    return 0


def _pace(options: argparse.Namespace) -> "Pace | None":
    from halogen_simulator.machine import Machine
    from halogen_simulator.pace import SteadyPace

    if options.token_s:
        return SteadyPace(options.token_s, BYTES_PER_TOKEN)
    if options.profile in (None, "none"):
        return None
    return Machine(profile.load(options.profile))


def _faults(options: argparse.Namespace) -> int:
    from halogen_simulator.faults.table import FAULTS, as_json, as_text

    print(as_json(FAULTS.values()) if options.json else as_text(FAULTS.values()))
    return 0
