"""Play the sessions example on all three routes of one server. Exit code: 0 when every outcome,
cost and reply is what the protocol says, 1 when one is not, 2 when a server cannot be run."""

import argparse
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack

import httpx
from rich.console import Console
from rich.markup import escape

from demo.clients import CLIENT_ERRORS
from demo.play import play, warm
from demo.process import REFERENCE, ServerTrouble, serve
from demo.progress import Steps, console
from demo.route import Unanswered
from demo.story import CAP, SCENES
from demo.table import WIDTH, show, verdict

_SIZE = {"HALOGEN_CTX": "2048", "HALOGEN_KV_POOL_POSITIONS": "8192"}
_ON = {**_SIZE, "HALOGEN_FORK": "1", "HALOGEN_FORK_HANDLES": str(CAP)}
_OFF = {**_SIZE, "HALOGEN_FORK": "0"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("demo", description=__doc__)
    parser.add_argument(
        "--command",
        type=shlex.split,
        default=REFERENCE,
        help="what starts a server on a free port (it prints '... on http://HOST:PORT'), in place "
        "of the reference",
    )
    command = parser.parse_args(arguments).command
    # Told to end, end the servers too: leave by the exit stack.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = console(WIDTH)
    try:
        return _play(out, command)
    except (ServerTrouble, OSError) as error:
        out.print(f"[bold red]The demo cannot run:[/] {escape(str(error))}")
        return 2
    except (*CLIENT_ERRORS, httpx.HTTPError, Unanswered) as error:
        out.print(f"[bold red]FAIL[/]  a request was not answered: {escape(str(error))}")
        return 1
    except KeyboardInterrupt:
        out.print("Interrupted; the servers are stopped.")
        return 130


def _play(out: Console, command: Sequence[str]) -> int:
    with ExitStack() as stack:
        steps = stack.enter_context(Steps(out, 1 + SCENES))
        steps.begin("two servers start: one with sessions, one without")
        server = stack.enter_context(serve(command, _ON))
        twin = stack.enter_context(serve(command, _OFF))
        warm(server.url)
        warm(twin.url)
        played = play(server.url, twin.url, steps.begin)
    show(out, played)
    verdict(out, len(played.rows), played.wrong)
    return 1 if played.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
