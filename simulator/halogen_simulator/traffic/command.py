"""``halogen-simulator traffic``, ``replay`` and ``record``."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from halogen_conformance.drivers.connection import Origin
from halogen_reference.command import port
from halogen_simulator.traffic.clients import CLIENTS, DEFAULT
from halogen_simulator.values import (
    EXIT_CODES,
    KEY_HELP,
    TARGET_LOST,
    at_least_one,
    wants_a_key,
    whole,
    wrong,
)

if TYPE_CHECKING:
    from halogen_simulator.traffic.judge import Played
    from halogen_simulator.traffic.recording import Recorded

TRAFFIC = "Make up traffic of Claude Code's shapes: print it, or play it against a server."
REPLAY = """Play recorded traffic against a server, its own replies in the place of the recorded
ones. Prints what each request started from, and how much of its prompt was read. Without
--base-url: what the recording itself says of that."""
RECORD = """Stand between a client and a server on this machine, pass everything through, and write
the requests down: texts replaced by placeholders of their length, keys and ids masked."""


def add_traffic(parser: argparse.ArgumentParser) -> None:
    """Options of ``traffic``."""
    _told(parser, TRAFFIC)
    add = parser.add_argument
    add("--sessions", type=at_least_one, default=1, metavar="N", help="sessions side by side (1)")
    add("--turns", type=at_least_one, default=10, metavar="N", help="turns of each person (10)")
    add("--agents", type=at_least_one, default=2, metavar="N", help="helpers a turn calls (2)")
    add("--keys", type=at_least_one, default=1, metavar="N", help="API keys in use (1)")
    add("--words", type=at_least_one, default=20, metavar="N", help="words in a text (20)")
    add("--seed", type=whole, default=0, metavar="N", help="the same seed, the same traffic (0)")
    add("--client", choices=list(CLIENTS), default=DEFAULT, help=f"whose shapes ({DEFAULT})")
    add("--hints", action="store_true", help="send the hint headers, off in the client by default")
    add("--out", type=Path, metavar="FILE", help="write it down instead of playing it")
    _playing(parser)
    parser.set_defaults(run=_traffic)


def add_replay(parser: argparse.ArgumentParser) -> None:
    """Options of ``replay``."""
    _told(parser, REPLAY)
    parser.add_argument(
        "file", metavar="FILE", help="a recording, or the name of one that comes with this program"
    )
    parser.add_argument("--no-hints", action="store_true", help="leave recorded hint headers out")
    _playing(parser)
    parser.set_defaults(run=_replay)


def add_record(parser: argparse.ArgumentParser) -> None:
    """Options of ``record``."""
    parser.description = RECORD
    add = parser.add_argument
    add("--listen", type=port, required=True, metavar="PORT", help="on 127.0.0.1; 0: a free one")
    add("--to", required=True, metavar="URL", help="the server that answers")
    add("file", type=Path, metavar="FILE", help="where to write; it must not be there yet")
    parser.set_defaults(run=_record)


def _told(parser: argparse.ArgumentParser, about: str) -> None:
    parser.description, parser.epilog = about, EXIT_CODES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def _playing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--base-url", metavar="URL", help="the server to play against")
    add("--key", metavar="KEY", help=KEY_HELP)
    add(
        "--max-tokens",
        type=whole,
        default=128,
        metavar="N",
        help="the longest reply (128); 0: as recorded",
    )
    add("--at-once", type=at_least_one, default=1, metavar="N", help="requests together (1)")
    add("--quiet", action="store_true", help="print complaints and the summary only")


def _traffic(options: argparse.Namespace) -> int:
    from halogen_simulator.traffic.generator import Plan, traffic

    names = ("sessions", "turns", "agents", "seed", "client", "hints", "words", "keys")
    plan = Plan(**{name: getattr(options, name) for name in names})
    records = [planned.record for planned in traffic(plan)]
    if options.base_url:
        return _play(options, records, hints=True)
    lines = "".join(record.line() for record in records)
    if not options.out:
        sys.stdout.write(lines)
        return 0
    try:
        options.out.write_text(lines, "utf-8")
    except OSError as error:
        return wrong(f"cannot write {options.out}: {error}")
    return 0


def _replay(options: argparse.Namespace) -> int:
    from halogen_simulator.traffic.hindsight import Hindsight
    from halogen_simulator.traffic.judge import as_recorded
    from halogen_simulator.traffic.recording import RecordingError, load

    try:
        records = load(options.file)
    except RecordingError as error:
        return wrong(str(error))
    if options.base_url:
        return _play(options, records, hints=not options.no_hints)
    told = [as_recorded(placed) for placed in Hindsight(records).placed()]
    known = [played for played in told if played is not None]
    if not known:
        return wrong(f"{options.file} has no answers: give the --base-url of a server")
    return _tell(options, known)


def _play(options: argparse.Namespace, records: "Sequence[Recorded]", *, hints: bool) -> int:
    import httpx

    from halogen_simulator.traffic.replay import Manner, Player

    try:
        address = Origin.parse(options.base_url).url
    except ValueError as error:
        return wrong(f"--base-url {error}")
    key = _key(options)
    manner = Manner(key, hints, options.max_tokens, options.at_once)
    # The server may close an idle connection at the moment it is used again.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    with httpx.Client(base_url=address, timeout=600, trust_env=False, limits=limits) as http:
        return _tell(options, Player(records, http, manner).run())


def _key(options: argparse.Namespace) -> str | None:
    """The key that is sent in place of all recorded ones. Traffic of several keys keeps its own
    unless one is given by name."""
    several = getattr(options, "keys", 1) > 1
    return options.key or (None if several else os.environ.get("HALOGEN_API_KEY")) or None


def _tell(options: argparse.Namespace, run: "Iterable[Played]") -> int:
    """Print a run as it goes. Returns the exit code."""
    from halogen_simulator.traffic import report
    from halogen_simulator.traffic.judge import complaint

    seen: dict[int, Played] = {}
    complaints = 0
    for played in run:
        if not seen and played.status is None:
            to_do = "start the server, or give another --base-url"
            return wrong(f"no server at {options.base_url} ({played.error}): {to_do}", TARGET_LOST)
        if played.status == 401 and not any(one.answered for one in seen.values()):
            return wrong(wants_a_key(_key(options) is not None), TARGET_LOST)
        if not seen and not options.quiet:
            print(report.HEAD)
        seen[played.placed.record.n] = played
        base = seen.get(played.placed.base) if played.placed.base is not None else None
        problem = complaint(played, base)
        complaints += problem is not None
        if problem or not options.quiet:
            print(report.line(played), flush=True)
        if problem:
            print(f"       ! {problem}")
    print("", *report.table(seen.values()), sep="\n")
    if report.tells_nothing(seen.values()):
        print(report.NO_OUTCOME)
    print(report.verdict(len(seen), complaints))
    return 1 if complaints else 0


def _record(options: argparse.Namespace) -> int:
    from halogen_simulator.traffic.proxy import ProxyError, serve

    try:
        return serve(options.listen, options.to, options.file)
    except ProxyError as error:
        return wrong(str(error))


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "traffic": ("make up traffic of Claude Code's shapes", add_traffic),
    "replay": ("play recorded traffic against a server", add_replay),
    "record": ("record the traffic between a client and a server", add_record),
}
