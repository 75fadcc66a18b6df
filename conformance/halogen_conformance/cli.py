"""The command line: `halogen-conformance check | list | explain | report | matrix`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import shtab

if TYPE_CHECKING:
    from halogen_conformance.order import Order

_EXIT_CODES = """\
exit codes:
  0  the server conforms
  1  it does not, or a baseline entry is out of date
  2  usage error
  3  the server cannot be reached, wants another key, or died
  4  the suite itself went wrong; says nothing about the target
  5  nothing was tested
"""
_CHECK_EXAMPLES = """\
examples:
  halogen-conformance check http://127.0.0.1:8731 --ttl 2 --handles 8
  halogen-conformance check --report out -- my-server --port {port}

A server at a URL is used as it is, so only what its settings show can be tried: what cannot is
listed as N/A. A command after -- is started by the suite, once for each setting it needs
(HALOGEN_FORK, HALOGEN_FORK_TTL_S, ... in its environment, the port for {port}); only then can
everything run. The command is not passed to a shell.

The key is better given in the environment (HALOGEN_API_KEY) than with --key, where other users
of the machine can see it. It is never written into a report.

"""

_MATRIX = """Prove the suite: run it against the simulator with each of its faults, and see whether
it notices. SIMULATOR is the command that lists faults and serves (halogen-simulator)."""
_MATRIX_EXIT_CODES = """\
exit codes:
  0  every fault is noticed, and nothing falls that it does not name
  1  something is red
  2  usage error
  4  the simulator does not list its faults, or the run was interrupted
"""


def _count(text: str) -> int:
    # int() would also take `1_000`, and digits of other scripts.
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _ids(text: str) -> tuple[str, ...]:
    words = tuple(word for word in text.replace(",", " ").split() if word)
    if not words:
        raise argparse.ArgumentTypeError("name at least one requirement or group")
    return words


_TARGETS = """halogen-conformance check [options] URL
       halogen-conformance check [options] -- COMMAND ... {port} ..."""


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check = commands.add_parser(
        "check",
        help="check a server and say whether it conforms",
        description="Check a server and say whether it conforms.",
        usage=_TARGETS,
        epilog=_CHECK_EXAMPLES + _EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("url", nargs="?", default="", metavar="URL", help="a server that runs")
    check.add_argument("--base-url", default="", metavar="URL", help="the same as an option")
    facts = check.add_argument_group("facts about a server at a URL that cannot be seen")
    facts.add_argument(
        "--ttl", type=_seconds, metavar="S", help="its HALOGEN_FORK_TTL_S, in seconds"
    )
    facts.add_argument("--handles", type=_count, metavar="N", help="its HALOGEN_FORK_HANDLES")
    facts.add_argument("--claude-code", action="store_true", help="it maps Claude Code's threads")
    facts = check.add_argument_group("facts about any server")
    facts.add_argument(
        "--key",
        metavar="KEY",
        help="its API key; HALOGEN_API_KEY is better: all users of a machine see options",
    )
    facts.add_argument(
        "--model", default="", metavar="NAME", help='the model to ask for ("default")'
    )
    facts.add_argument(
        "--deterministic", action="store_true", help="the same request gets the same text"
    )
    facts.add_argument(
        "--slow", type=_seconds, default=0.0, metavar="S", help="extra seconds for each answer (0)"
    )
    choice = check.add_argument_group("what to run")
    choice.add_argument(
        "--only", type=_ids, default=(), metavar="IDS", help="these ids or groups: FROM-2,KEEP"
    )
    choice.add_argument("--no-fuzz", action="store_true", help="leave the fuzzing out")
    choice.add_argument("--seed", type=int, default=0, metavar="N", help="of fuzzing and order (0)")
    choice.add_argument("--shuffle", action="store_true", help="run the tests in random order")
    choice.add_argument(
        "-n",
        "--workers",
        type=_count,
        metavar="N",
        help="processes that test (2 for all tests on a command, otherwise 1)",
    )
    out = check.add_argument_group("results")
    out.add_argument("--report", default="", metavar="DIR", help="write every form of the report")
    out.add_argument("--junit", default="", metavar="FILE", help="write junit.xml there")
    out.add_argument("--baseline", default="", metavar="FILE", help="known failures (TOML)")


def _add_matrix(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    matrix = commands.add_parser(
        "matrix",
        help="prove the suite: does it notice every fault of the simulator?",
        usage="halogen-conformance matrix [options] [-- SIMULATOR ...]",
        description=_MATRIX,
        epilog=_MATRIX_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    matrix.add_argument(
        "--fault", action="append", default=[], metavar="ID", help="only this one (repeatable)"
    )
    matrix.add_argument(
        "--quick", action="store_true", help="try with each fault only the rows it names"
    )
    matrix.add_argument("--page", default="", metavar="FILE", help="write the result page there")
    matrix.add_argument(
        "--trials",
        default="",
        metavar="DIR",
        help="keep what was tried there; with --fault, take all others from there",
    )
    matrix.add_argument(
        "--missing", action="store_true", help="try only what the folder of --trials lacks"
    )
    matrix.add_argument(
        "-j", "--jobs", type=_count, default=1, metavar="N", help="trials at once (1)"
    )


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="halogen-conformance",
        description="Checks whether a server keeps to the sessions protocol.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    shtab.add_argument_to(top)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_check(commands)
    about = "List the requirements, a line each."
    listing = commands.add_parser("list", help=about[:-1].lower(), description=about)
    listing.add_argument("ids", nargs="*", metavar="ID", help="only these ids or groups")
    about = "Tell all about one requirement: its sentence, why users need it, and its tests."
    explain = commands.add_parser(
        "explain", help="tell all about one requirement", description=about
    )
    explain.add_argument("id", metavar="ID", help="such as FROM-2")
    report = commands.add_parser(
        "report",
        help="show a saved run again, or render it into a folder",
        description="Show a saved run again, or render it into a folder. The exit code is 0, "
        "whatever the run's verdict was, and 2 when the file is no saved run.",
    )
    report.add_argument("file", metavar="FILE", help="events.ndjson of a run")
    report.add_argument("--report", default="", metavar="DIR", help="write every form there")
    _add_matrix(commands)
    return top


def _version() -> str:
    try:
        return version("halogen-sessions-kit")
    except PackageNotFoundError:
        return "(not installed)"


def split(argv: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The own arguments and the command after the first `--`; None if there is no `--`."""
    words = list(argv)
    if "--" not in words:
        return words, None
    cut = words.index("--")
    return words[:cut], words[cut + 1 :]


def _check(args: argparse.Namespace) -> int:
    from halogen_conformance.check import run_check
    from halogen_conformance.order import Order

    key = args.key if args.key is not None else os.environ.get("HALOGEN_API_KEY", "")
    order = Order(
        url=args.url.rstrip("/"),
        command=tuple(args.argv or ()),
        ttl=args.ttl,
        handles=args.handles,
        key=key,
        model=args.model,
        claude_code=args.claude_code,
        deterministic=args.deterministic,
        slow=args.slow,
        fuzz=not args.no_fuzz,
        seed=args.seed,
        shuffle=args.shuffle,
        only=args.only,
        report=args.report,
        baseline=args.baseline,
    )
    workers = args.workers or _workers(order)
    return run_check(order, junit=args.junit, workers=int(workers))


def _workers(order: Order) -> int:
    """Many tests wait for clocks and for servers to start; a second process tests meanwhile, on
    servers of its own. A server at a URL has one set of names for all, and may be in use."""
    return 2 if order.command and not order.only else 1


def _list(args: argparse.Namespace) -> int:
    from halogen_conformance.explain import show_list

    return show_list(args.ids)


def _explain(args: argparse.Namespace) -> int:
    from halogen_conformance.explain import show_one

    return show_one(args.id)


def _report(args: argparse.Namespace) -> int:
    from halogen_conformance.rerender import rerender

    return rerender(args.file, args.report)


def _matrix(args: argparse.Namespace) -> int:
    from halogen_conformance.matrix.command import Wanted, run_matrix

    return run_matrix(
        Wanted(
            simulator=tuple(args.argv or ()),
            faults=tuple(args.fault),
            quick=args.quick,
            jobs=int(args.jobs),
            page=args.page,
            trials=args.trials,
            missing=args.missing,
        )
    )


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "check": _check,
    "list": _list,
    "explain": _explain,
    "report": _report,
    "matrix": _matrix,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Usage errors end in SystemExit(2)."""
    own, command = split(sys.argv[1:] if argv is None else argv)
    top = parser()
    args = top.parse_args(own)
    args.argv = command
    if command is not None and args.command not in ("check", "matrix"):
        top.error(f"{args.command} takes no command after --")
    if args.command == "check":
        top.usage = _TARGETS
        if command == []:
            top.error("there is no command after --")
        if args.url and args.base_url:
            top.error("a URL and --base-url are two targets; give one")
        args.url = args.url or args.base_url
        if args.url and command:
            top.error("a URL and a command after -- are two targets; give one")
        if not args.url and not command:
            top.error("name the target: a URL, or a command after --")
    return _COMMANDS[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
