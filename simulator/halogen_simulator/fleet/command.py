"""``halogen-simulator fleet``: run the simulation, sweep settings, compare release policies."""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from halogen_simulator.fleet.policies import POLICIES
from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.target import TargetLost
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.profile import INSTANT, ProfileError, dumps, load, packaged
from halogen_simulator.values import (
    EXIT_CODES,
    KEY_HELP,
    TARGET_LOST,
    USAGE,
    at_least_one,
    some_seconds,
    while_read,
)

if TYPE_CHECKING:
    from halogen_simulator.fleet.trials import Trial

# What draws and counts (SimPy, NumPy, matplotlib, rich) is imported where it is used: the other
# sub-commands of the program start without it.

ABOUT = """Simulate many agents on servers that hold sessions: what is used, read, waited for,
held. Each command has its own --help."""
_SERVER = "http://127.0.0.1:8731"
_CAPS, _TTLS, _COUNTS = "4,8,16,32,64", "60,600,inf", "1,4,16"

_Settings = TypeVar("_Settings", Workload, Service)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands and their options."""
    parser.description, parser.epilog = ABOUT, EXIT_CODES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="fleet", required=True, metavar="WHAT")
    for name, (about, add, action) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add(command)
        command.set_defaults(fleet_action=action)


def run(args: argparse.Namespace) -> int:
    """Do what the arguments say. Returns the exit code, one of :data:`values.EXIT_CODES`."""
    action: Callable[[argparse.Namespace], int] = args.fleet_action
    try:
        return action(args)
    except BrokenPipeError:
        raise  # nothing is wrong: the reader has left
    except (ValueError, ProfileError, OSError, TargetLost) as error:
        print(f"halogen-simulator fleet: {error}", file=sys.stderr)
        return TARGET_LOST if isinstance(error, TargetLost) else USAGE


def main(arguments: list[str] | None = None) -> int:
    """The sub-command as a program of its own."""
    parser = argparse.ArgumentParser("halogen-simulator fleet")
    add_arguments(parser)
    args = parser.parse_args(arguments)
    return while_read(lambda: run(args))


def _run_options(parser: argparse.ArgumentParser) -> None:
    _settings(parser, Workload)
    _settings(parser, Service)
    _profile(parser)


def _many_options(parser: argparse.ArgumentParser) -> None:
    _run_options(parser)
    add = parser.add_argument
    add("--seeds", type=at_least_one, default=5, metavar="N", help="seeds for each setting (5)")
    add("--jobs", type=at_least_one, default=1, metavar="N", help="processes to run them in (1)")
    add(
        "--policies",
        type=_list(str),
        default=list(POLICIES),
        metavar="NAME,NAME",
        help="release policies to compare (all that --policy names)",
    )
    add("--plot", type=Path, metavar="FILE", help="write the plot here, as .svg and .png")


def _sweep_options(parser: argparse.ArgumentParser) -> None:
    _many_options(parser)
    _listed(parser, "--caps", float, _CAPS, "N,N", "in place of --cap, each of these")
    _listed(parser, "--ttls", float, _TTLS, "S,S", "in place of --ttl, each of these, in seconds")


def _study_options(parser: argparse.ArgumentParser) -> None:
    _many_options(parser)
    _listed(parser, "--counts", int, _COUNTS, "N,N", "in place of --programs, each of these")


def _fit_options(parser: argparse.ArgumentParser) -> None:
    _target(parser, "a server with HALOGEN_FORK=1")
    add = parser.add_argument
    add("--name", default="fitted", metavar="NAME", help="what to call the profile (fitted)")
    add("--about", default="", metavar="TEXT", help="which machine and model this is")
    for option, default, about in (
        ("--tokens", 32, "tokens of each measured reply"),
        ("--repeats", 3, "times each figure is measured"),
        ("--depth", 1000, "tokens of the conversations"),
        ("--chunk-alone", 252, "prompt tokens in the server's batches, no reply running"),
        ("--chunk-beside", 64, "the same beside running replies"),
    ):
        add(option, type=at_least_one, default=default, metavar="N", help=f"{about} ({default})")
    add("--out", type=Path, required=True, metavar="FILE", help="the JSON file to write")


def _check_options(parser: argparse.ArgumentParser) -> None:
    # Names are what is checked: short texts do, and fit every server's context.
    _settings(
        parser,
        Workload,
        system_tokens=60,
        message_tokens=10.0,
        result_tokens=20.0,
        reply_tokens=12.0,
        summary_tokens=50,
        context=1500,
    )
    _target(parser, "a fresh simulator server with HALOGEN_FORK=1 and --test-controls")
    add = parser.add_argument
    add(
        "--tick",
        type=some_seconds,
        default=2.0,
        metavar="S",
        help="what falls into so many seconds is sent at once (2)",
    )
    add(
        "--within",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="shares may differ by this much (0.02)",
    )


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

    args.out.parent.mkdir(parents=True, exist_ok=True)  # or fail, before minutes of measuring
    plan = Plan(args.tokens, args.repeats, args.depth, args.chunk_alone, args.chunk_beside)
    profile = measure(args.base_url, _key(args), args.name, args.about, plan)
    args.out.write_text(dumps(profile), "utf-8")
    print(dumps(profile), end="")
    return 0


def _check(args: argparse.Namespace) -> int:
    from halogen_simulator.fleet.live import compare, furthest_apart
    from halogen_simulator.fleet.tables import console, shares

    columns = compare(_build(Workload, args), args.base_url, _key(args), args.tick)
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


def _settings(parser: argparse.ArgumentParser, kind: type[Any], **defaults: float) -> None:
    """One option for each field, with the field's own type and help; its default unless another
    is given."""
    group = parser.add_argument_group(kind.__name__.lower())
    for field in fields(kind):
        default = defaults.get(field.name, field.default)
        shown = f"{default:g}" if isinstance(default, float) else default
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=field.type if callable(field.type) else str,
            default=default,
            metavar=field.metadata["metavar"],
            help=f"{field.metadata['about']} ({shown})".replace("%", "%%"),
        )


def _build(kind: type[_Settings], args: argparse.Namespace) -> _Settings:
    return kind(**{field.name: getattr(args, field.name) for field in fields(kind)})


def _profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        default=INSTANT,
        metavar="NAME|FILE",
        help=f"what the servers cost: a JSON file, or one of {', '.join(packaged())} ({INSTANT})",
    )


def _target(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("--base-url", default=_SERVER, metavar="URL", help=f"{about} ({_SERVER})")
    parser.add_argument("--key", metavar="KEY", help=KEY_HELP)


def _key(args: argparse.Namespace) -> str | None:
    return args.key or os.environ.get("HALOGEN_API_KEY") or None


def _listed(
    parser: argparse.ArgumentParser,
    option: str,
    kind: Callable[[str], Any],
    default: str,
    metavar: str,
    about: str,
) -> None:
    parse = _list(kind)
    parser.add_argument(
        option, type=parse, default=parse(default), metavar=metavar, help=f"{about} ({default})"
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
