"""``halogen-simulator fleet``: run the simulation, sweep settings, compare release policies."""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from halogen_simulator.fleet.policies import POLICIES
from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.profile import INSTANT, ProfileError, dumps, load, packaged

if TYPE_CHECKING:
    from halogen_simulator.fleet.trials import Trial

# What draws and counts (SimPy, NumPy, matplotlib, rich) is imported where it is used: the other
# sub-commands of the program start without it.

ABOUT = "Simulate many agents on servers that hold sessions: what is used, read, waited for, held."

_Settings = TypeVar("_Settings", Workload, Service)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands and their options."""
    commands = parser.add_subparsers(dest="fleet", required=True, metavar="WHAT")
    for name, (about, add, action) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=about,
            description=about,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        add(command)
        command.set_defaults(fleet_action=action)


def run(args: argparse.Namespace) -> int:
    """Do what the arguments say. Returns the exit code: 2 for what cannot be done."""
    action: Callable[[argparse.Namespace], int] = args.fleet_action
    try:
        return action(args)
    except (ValueError, ProfileError, OSError) as error:
        print(f"halogen-simulator fleet: {error}", file=sys.stderr)
        return 2


def main(arguments: list[str] | None = None) -> int:
    """The sub-command as a program of its own."""
    parser = argparse.ArgumentParser("halogen-simulator fleet", description=ABOUT)
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def _run_options(parser: argparse.ArgumentParser) -> None:
    _settings(parser, Workload)
    _settings(parser, Service)
    _profile(parser)


def _many_options(parser: argparse.ArgumentParser) -> None:
    _run_options(parser)
    parser.add_argument("--seeds", type=int, default=5, help="seeds that each setting is run with")
    parser.add_argument("--jobs", type=int, default=1, help="processes to run them in")
    parser.add_argument("--policies", type=_list(str), default=list(POLICIES), help="to compare")
    parser.add_argument("--plot", type=Path, help="write the plot here, as .svg and .png")


def _sweep_options(parser: argparse.ArgumentParser) -> None:
    _many_options(parser)
    parser.add_argument("--caps", type=_list(float), default=[4.0, 8.0, 16.0, 32.0, 64.0])
    parser.add_argument("--ttls", type=_list(float), default=[60.0, 600.0, math.inf])


def _study_options(parser: argparse.ArgumentParser) -> None:
    _many_options(parser)
    parser.add_argument("--counts", type=_list(int), default=[1, 4, 16], help="programs at once")


def _fit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", default="http://127.0.0.1:8731", help="a server with HALOGEN_FORK=1"
    )
    parser.add_argument("--key", help="its API key")
    parser.add_argument("--name", default="fitted", help="what to call the profile")
    parser.add_argument("--about", default="", help="which machine and model this is")
    parser.add_argument("--tokens", type=int, default=32, help="tokens of each measured reply")
    parser.add_argument("--repeats", type=int, default=3, help="times each figure is measured")
    parser.add_argument("--depth", type=int, default=1000, help="tokens of the conversations")
    parser.add_argument("--chunk-alone", type=int, default=252, help="the server's largest chunk")
    parser.add_argument("--chunk-beside", type=int, default=64, help="and beside running replies")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")


def _check_options(parser: argparse.ArgumentParser) -> None:
    _settings(parser, Workload)
    # Names are what is checked: short texts do, and fit every server's context.
    parser.set_defaults(
        system_tokens=60,
        message_tokens=10.0,
        result_tokens=20.0,
        reply_tokens=12.0,
        summary_tokens=50,
        context=1500,
    )
    parser.add_argument("--url", default="http://127.0.0.1:8731", help="a simulator server")
    parser.add_argument("--key", help="its API key")
    parser.add_argument(
        "--tick", type=float, default=2.0, help="what falls into so many seconds is sent at once"
    )
    parser.add_argument("--within", type=float, default=0.02, help="shares may differ by this")


def _once(args: argparse.Namespace) -> int:
    from halogen_simulator.fleet.tables import comparison, console
    from halogen_simulator.fleet.world import simulate

    trial = _trial(args)
    off = replace(trial.service, cap=0.0)
    columns = {
        "with sessions": simulate(trial.workload, trial.service, trial.profile),
        "without": simulate(trial.workload, off, trial.profile),
    }
    console().print(comparison(columns, trial.profile))
    return 0


def _sweep(args: argparse.Namespace) -> int:
    from halogen_simulator.fleet.trials import sweep

    trials = sweep(_trial(args), args.caps, args.ttls, args.policies)
    return _many(args, trials, "by_cap")


def _study(args: argparse.Namespace) -> int:
    from halogen_simulator.fleet.trials import study

    trials = study(_trial(args), args.counts, args.policies)
    return _many(args, trials, "by_programs")


def _many(args: argparse.Namespace, trials: "list[Trial]", plot: str) -> int:
    from rich.console import Console
    from rich.progress import track

    from halogen_simulator.fleet import tables
    from halogen_simulator.fleet.trials import run as run_trials

    if args.seeds < 1 or args.jobs < 1:
        raise ValueError("seeds and jobs must be at least 1")
    results = list(
        track(
            run_trials(trials, args.seeds, args.jobs),
            total=len(trials),
            console=Console(stderr=True),
        )
    )
    console = tables.console()
    console.print(tables.trials(results))
    if args.plot is not None:
        from halogen_simulator.fleet import plots

        written = getattr(plots, plot)(results, args.plot)
        console.print("plot:", *written)
    return 0


def _fit(args: argparse.Namespace) -> int:
    from halogen_simulator.fleet.fit import Plan, measure

    plan = Plan(args.tokens, args.repeats, args.depth, args.chunk_alone, args.chunk_beside)
    profile = measure(args.url, args.key, args.name, args.about, plan)
    args.out.write_text(dumps(profile), "utf-8")
    print(dumps(profile), end="")
    return 0


def _check(args: argparse.Namespace) -> int:
    from halogen_simulator.fleet.live import compare, furthest_apart
    from halogen_simulator.fleet.tables import console, shares

    columns = compare(_build(Workload, args), args.url, args.key, args.tick)
    console().print(shares(columns))
    apart = furthest_apart(columns)
    if apart > args.within:
        print(
            f"halogen-simulator fleet: the shares are {100 * apart:.1f} points apart, more than "
            f"{100 * args.within:.1f}: the simulation and the server do not follow the same rules",
            file=sys.stderr,
        )
        return 1
    return 0


def _trial(args: argparse.Namespace) -> "Trial":
    from halogen_simulator.fleet.trials import Trial

    return Trial(_build(Workload, args), _build(Service, args), load(args.profile))


def _settings(parser: argparse.ArgumentParser, kind: type[Any]) -> None:
    """One option for each field, with the field's own type, default and help."""
    group = parser.add_argument_group(kind.__name__.lower())
    for field in fields(kind):
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=field.type if callable(field.type) else str,
            default=field.default,
            help=field.metadata["about"].replace("%", "%%"),
        )


def _build(kind: type[_Settings], args: argparse.Namespace) -> _Settings:
    return kind(**{field.name: getattr(args, field.name) for field in fields(kind)})


def _profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        default=INSTANT,
        help=f"what the servers cost: a JSON file, or one of {', '.join(packaged())}",
    )


def _list(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    def parse(text: str) -> list[Any]:
        return [kind(part) for part in text.split(",")]

    parse.__name__ = "comma-separated list"
    return parse


_COMMANDS: dict[
    str,
    tuple[
        str,
        Callable[[argparse.ArgumentParser], None],
        Callable[[argparse.Namespace], int],
    ],
] = {
    "run": ("one simulation, beside the same without sessions", _run_options, _once),
    "sweep": ("every combination of cap, TTL and release policy", _sweep_options, _sweep),
    "study": ("release policies, over the number of programs", _study_options, _study),
    "fit": ("measure a running server and write its cost profile", _fit_options, _fit),
    "check": ("the same agents on a simulator server over HTTP", _check_options, _check),
}
