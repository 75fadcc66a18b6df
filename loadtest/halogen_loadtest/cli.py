"""``halogen-loadtest``: a thin front of Locust that runs our locustfile, on one machine or many."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import shtab

from halogen_loadtest import options
from halogen_loadtest.own_server import NotStarted, free_port, started
from halogen_loadtest.target import NoSessions, Target, TargetLost
from halogen_loadtest.verdict import VERDICT

LOCUSTFILE = Path(__file__).with_name("locustfile.py")

_EXIT_CODES = """\
exit codes:
  0  every rule held, and every threshold
  1  a rule was broken, or a threshold missed
  2  usage error
  3  the server cannot be reached, wants another key, or died
  4  the load test itself went wrong; says nothing about the server
  5  nothing was tested
"""
_ABOUT = "Load tests for servers of the sessions protocol, with its rules checked under load."
_RUN = """Talk to a server from many users at once and judge every answer. A server that wants a key
finds it in HALOGEN_API_KEY. In place of a server's address, a command after -- starts one for the
run."""
_WORKER = """Talk for a `halogen-loadtest run --workers N` on another machine, which has all the
options. A server that wants a key finds it in this machine's HALOGEN_API_KEY."""
_WORKER_EXIT_CODES = """\
exit codes:
  0  the run came to its end, which has the verdict
  2  usage error
  4  it did not
"""
_GROUPS = {
    "load": "the load",
    "talk": "what is said",
    "judge": "what is demanded",
}
_OURS = frozenset(str(code) for code in range(6))
PORT = 5557


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns its exit code; usage errors end in SystemExit(2)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, command = (
        (given[: given.index("--")], given[given.index("--") + 1 :])
        if "--" in given
        else (given, None)
    )
    parser = _parser()
    chosen = parser.parse_args(own)
    if command is not None and chosen.command != "run":
        parser.error(f"{chosen.command} takes no command after --")
    chosen.server = command
    run = {"run": _run, "worker": _worker, "scenarios": _scenarios}[chosen.command]
    return run(chosen)


def _version() -> str:
    try:
        return version("halogen-sessions-kit")
    except PackageNotFoundError:
        return "unknown"


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "halogen-loadtest", description=_ABOUT, epilog=_EXIT_CODES, formatter_class=raw
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    shtab.add_argument_to(parser)
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run a load test",
        formatter_class=raw,
        usage="%(prog)s [options] (URL | -- COMMAND --port {port} ...)",
        description=_RUN,
        epilog=_EXIT_CODES,
    )
    add = run.add_argument
    add("url", nargs="?", metavar="URL", help="the server, like http://127.0.0.1:8731")
    add("--base-url", metavar="URL", help="the same as an option")
    add("--users", "-u", type=_count, default=1, metavar="N", help="users at once (1)")
    add("--spawn-rate", "-r", type=_rate, metavar="N", help="users that begin a second (all)")
    add("--run-time", "-t", metavar="T", help="how long: 90, 90s, 20m, 1h (60s; soak: 20m)")
    add("--processes", type=_count, metavar="N", help="processes on this machine (1)")
    add("--workers", type=_count, metavar="N", help="wait for N `halogen-loadtest worker`s")
    add("--bind", default="127.0.0.1", metavar="HOST", help="where to wait for them (127.0.0.1)")
    add("--port", type=_port, metavar="N", help="the port for them (5557)")
    add(
        "--stop-time",
        type=_count,
        default=30,
        metavar="S",
        help="seconds to finish at the end (30)",
    )
    groups = [(name, run.add_argument_group(title)) for name, title in _GROUPS.items()]
    options.add_to(run, groups)
    worker = commands.add_parser(
        "worker",
        help="talk for a run elsewhere",
        description=_WORKER,
        epilog=_WORKER_EXIT_CODES,
        formatter_class=raw,
    )
    worker.add_argument(
        "--master", default="127.0.0.1", metavar="HOST", help="where the run is (127.0.0.1)"
    )
    worker.add_argument("--port", type=_port, default=PORT, metavar="N", help="its port (5557)")
    worker.add_argument(
        "--processes", type=_count, metavar="N", help="processes on this machine (1)"
    )
    about = "List what users can do, for --scenario."
    commands.add_parser("scenarios", help="list what users can do", description=about)
    # Who calls a command wrongly is shown how that one is called.
    run.set_defaults(error=run.error)
    worker.set_defaults(error=worker.error)
    return parser


def _count(text: str) -> int:
    # int() would also take `1_000`, and digits of other scripts.
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text[:9]) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number, 1 to 65535")
    return int(text)


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _run(chosen: argparse.Namespace) -> int:
    settings = options.settings_of(chosen)
    given = [one for one in (chosen.url, chosen.base_url) if one]
    if len(given) + (chosen.server is not None) != 1:
        chosen.error("name one server: a URL (like http://127.0.0.1:8731), or -- COMMAND")
    if chosen.server is not None and not chosen.server:
        chosen.error("there is no command after --")
    if chosen.processes and chosen.workers:
        chosen.error("--processes is for this machine, --workers for others: give one")
    problem = options.problem_in(settings)
    if problem is not None:
        chosen.error(problem)
    if chosen.server:
        try:
            with started(chosen.server) as target:
                return _against(target, settings, chosen)
        except NotStarted as error:
            return _say(str(error), error.code)
    target = Target(given[0] if "://" in given[0] else f"http://{given[0]}")
    if target.problem is not None:
        chosen.error(target.problem)
    return _against(target, settings, chosen)


def _against(target: Target, settings: options.Settings, chosen: argparse.Namespace) -> int:
    try:
        target.names()
    except TargetLost as error:
        return _say(str(error), 3)
    except NoSessions as error:
        return _say(str(error), 5)
    words = ["--headless", "--only-summary", "--exit-code-on-error", "0"]
    words += ["--host", target.url.rstrip("/"), "--users", str(chosen.users)]
    words += ["--spawn-rate", str(chosen.spawn_rate or max(chosen.users, 1))]
    words += ["--stop-timeout", str(chosen.stop_time), "--loglevel", "WARNING"]
    words += ["--run-time", chosen.run_time] if chosen.run_time else []
    words += ["--processes", str(chosen.processes)] if chosen.processes else []
    if chosen.workers:
        words += ["--master", "--expect-workers", str(chosen.workers)]
        port = str(chosen.port or PORT)
        words += ["--master-bind-host", chosen.bind, "--master-bind-port", port]
    elif chosen.processes:
        # Several runs on one machine must not meet.
        port = str(chosen.port or free_port())
        words += ["--master-bind-host", "127.0.0.1", "--master-bind-port", port]
        words += ["--master-port", port]
    folder = Path(settings.report) if settings.report else None
    if folder is not None:
        words += ["--csv", str(folder / "locust"), "--json-file", str(folder / "locust")]
    else:
        words += ["--json-file", os.devnull]
    return _locust([*words, *_spelled(settings)])


def _spelled(settings: options.Settings) -> list[str]:
    """The settings as Locust's command line takes them."""
    words: list[str] = []
    for name in settings.__slots__:
        value: Any = getattr(settings, name)
        if isinstance(value, bool):
            words += [options.spelled(name)] if value else []
        elif value != "":
            words += [options.spelled(name), str(value)]
    return words


def _worker(chosen: argparse.Namespace) -> int:
    words = ["--worker", "--master-host", chosen.master, "--master-port", str(chosen.port)]
    words += ["--processes", str(chosen.processes)] if chosen.processes else []
    return _locust([*words, "--loglevel", "WARNING", "--exit-code-on-error", "0"])


def _locust(words: list[str]) -> int:
    """Run Locust in a process of its own, since it replaces much of the standard library. An
    interrupt reaches it with the whole process group; we wait for its reports."""
    command = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), *words]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "verdict"
        with subprocess.Popen(command, env={**os.environ, VERDICT: str(told)}) as process:
            before = {
                number: signal.signal(number, lambda number, frame: _pass_on(process, number))
                for number in (signal.SIGINT, signal.SIGTERM)
            }
            try:
                code = process.wait()
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
        # Locust has codes of its own: only what was written down is a verdict.
        said = told.read_text("utf-8") if told.exists() else ""
    if "--worker" in words and code == 0:
        return 0
    if said not in _OURS:
        return _say(f"Locust ended with code {code} and without a verdict", 4)
    return int(said)


def _pass_on(process: "subprocess.Popen[bytes]", number: int) -> None:
    # An interrupt typed at the terminal has reached it already.
    if number == signal.SIGTERM and process.poll() is None:
        process.send_signal(number)


def _say(message: str, code: int) -> int:
    print(f"halogen-loadtest: {message}", file=sys.stderr)
    return code


def _scenarios(chosen: argparse.Namespace) -> int:
    for name, sentence in options.SENTENCES.items():
        print(f"{name:14}{sentence}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
